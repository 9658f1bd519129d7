// Up to which row this browser has seen a session. Where storage is blocked, nothing is remembered.
const keyOf = (session) => `parley:seen:${session}`

export const seenUpTo = (session) => {
  try {
    return Number(localStorage.getItem(keyOf(session)))
  } catch {
    return 0
  }
}

export const rememberSeen = (session, sequence) => {
  try {
    localStorage.setItem(keyOf(session), sequence)
  } catch {}
}
