// What a system event says happened, for its row as for a line of plain text.
const WORDS: Record<string, string> = {
  team_joined: 'joined',
  team_left: 'left',
  convener_changed: 'is now the convener',
  session_concluded: 'concluded the session',
  session_reopened: 'reopened the session',
}

/** After the name of who did it. An event of an unknown kind says its name. */
export const eventWords = (event: string, changes: { title?: unknown } | undefined): string => {
  if (event === 'session_metadata_updated') return changes?.title ? 'renamed the session' : 'changed the description'
  return WORDS[event] ?? event.replaceAll('_', ' ')
}

/** What a system event says, in one line of plain text. */
export const eventLine = (event: Record<string, unknown>): string => {
  const kind = String(event.event)
  const who = kind === 'convener_changed' ? event.team : (event.by ?? event.team)
  return `${String(who ?? 'Somebody')} ${eventWords(kind, event.changes as { title?: unknown } | undefined)}`
}

/** What a session is called since that event; undefined when it was not renamed by it. */
export const newTitle = ({ changes }: Record<string, unknown>): string | undefined => {
  const to = (changes as { title?: { to?: unknown } } | undefined)?.title?.to
  return typeof to === 'string' ? to : undefined
}

/** What it tells with all that goes with it: what was changed, from what to what, and why. */
export const eventTold = (event: Record<string, unknown>): string => {
  const changed = Object.entries(Object(event.changes) as Record<string, { from?: unknown; to?: unknown } | null>)
  const said = changed.map(
    ([field, change], i) => `${i > 0 ? `${field} ` : ''}${String(change?.from || 'none')} → ${String(change?.to || 'none')}`,
  )
  const reason = typeof event.reason === 'string' && event.reason !== '' ? ` “${event.reason}”` : ''
  return `${eventLine(event)}${said.length > 0 ? `: ${said.join(', ')}` : ''}${reason}`
}
