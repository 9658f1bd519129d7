import { valueIn } from '../../src/core/lookup.ts'

const PROGRAMS: Record<string, string> = { 'claude-code': 'Claude Code', codex: 'Codex', gemini: 'Gemini CLI', parley: 'Parley export' }

/** The name of the program that a session was imported from; undefined for a room. */
export const sourceName = (source: string): string | undefined => (source === 'room' ? undefined : (valueIn(PROGRAMS, source) ?? source))
