import { patternOf, patternsOverlap } from '../../src/core/text/path-overlap.ts'

/** Whether one file could lie under both, however many steps telling it takes. */
export const pathsOverlap = (one: string, other: string): boolean => patternsOverlap(patternOf(one), patternOf(other), { left: Infinity })
