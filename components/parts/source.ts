const PROGRAMS: Record<string, string> = { 'claude-code': 'Claude Code', codex: 'Codex', gemini: 'Gemini CLI', parley: 'Parley export' }

/** What people call the source of a session that was imported; undefined for a room. */
export const sourceName = (source: string): string | undefined => (source === 'room' ? undefined : (PROGRAMS[source] ?? source))
