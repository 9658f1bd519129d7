// One connection to the session's stream: an element from which htmx reads the stream, and puts each partial into its place.
export const openConnection = (live, path, lastEventId) => {
  const connection = document.createElement('div')
  connection.setAttribute('hx-sse:connect', `${path}/live`)
  connection.setAttribute('hx-headers', JSON.stringify({ 'Last-Event-ID': lastEventId }))
  connection.setAttribute('hx-swap', 'none')
  connection.setAttribute('hx-config', 'sse.reconnect:false sse.pauseOnBackground:false')
  live.append(connection)
  htmx.process(connection)
  return connection
}

export const closeConnection = (connection) => {
  connection.removeAttribute('hx-sse:connect')
  htmx.process(connection, true) // ends the request
  connection.remove()
}
