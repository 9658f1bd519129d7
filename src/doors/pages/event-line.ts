const SAYS: Record<string, string> = {
  team_joined: 'joined',
  team_left: 'left',
  session_metadata_updated: 'changed title or description',
  session_concluded: 'concluded the session',
  session_reopened: 'reopened the session',
  convener_changed: 'is now the convener',
}

/** What a system event tells, in one line of plain text. */
export const eventLine = (event: Record<string, unknown>): string => {
  const kind = String(event.event)
  const who = kind === 'convener_changed' ? event.team : (event.by ?? event.team)
  return `${String(who ?? 'Somebody')} ${SAYS[kind] ?? kind.replaceAll('_', ' ')}`
}
