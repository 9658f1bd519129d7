// One attempt at the session's stream. htmx reads it and puts what comes where it belongs.
export const openLine = (live, path, had) => {
  const line = document.createElement('div')
  line.setAttribute('hx-sse:connect', `${path}/live`)
  line.setAttribute('hx-headers', JSON.stringify({ 'Last-Event-ID': had }))
  line.setAttribute('hx-swap', 'none')
  line.setAttribute('hx-config', 'sse.reconnect:false sse.pauseOnBackground:false')
  live.append(line)
  htmx.process(line)
  return line
}

export const endLine = (line) => {
  line.removeAttribute('hx-sse:connect')
  htmx.process(line, true) // ends the request
  line.remove()
}
