// What `doctor` finds: a line each, which says what to do where something is wrong.
import type { Terminal } from '../machine.ts'

export interface Finding {
  /** `note`: works, and a person should know. */
  kind: 'good' | 'note' | 'bad'
  text: string
}

export const good = (text: string): Finding => ({ kind: 'good', text })
export const note = (text: string): Finding => ({ kind: 'note', text })
export const bad = (text: string): Finding => ({ kind: 'bad', text })

const MARKS = { good: '✓', note: '!', bad: '✗' }

/** Writes the lines. Returns whether nothing is wrong. */
export const show = (out: Terminal, findings: Finding[]): boolean => {
  for (const { kind, text } of findings) out.write(`  ${MARKS[kind]} ${text}\n`)
  return findings.every(({ kind }) => kind !== 'bad')
}
