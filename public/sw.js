// The service worker: shows what this server pushes, and opens the page that it is about. It keeps no page and answers no request. Sent by
// itself, as it is, from /sw.js.
addEventListener('install', () => skipWaiting())
addEventListener('activate', (event) => event.waitUntil(clients.claim()))

addEventListener('push', (event) => event.waitUntil(show(read(event.data))))

addEventListener('notificationclick', (event) => {
  event.notification.close()
  event.waitUntil(open(event.notification.data?.path ?? '/'))
})

// A push must show something, whatever came.
const read = (data) => {
  try {
    return data.json()
  } catch {
    return {}
  }
}

// One notification for each kind and session: a later one takes its place, and is heard.
const show = ({ kind = '', session_id = '', title = 'Parley', url = '/', text = 'You are needed.' }) =>
  registration.showNotification(title, { body: text, tag: `${kind} ${session_id}`, renotify: true, data: { path: pathOf(url) } })

// Of this server, whatever was sent.
const pathOf = (url) => {
  const { origin, pathname, search } = new URL(url, location.origin)
  return origin === location.origin ? pathname + search : '/'
}

const open = async (path) => {
  const pages = await clients.matchAll({ type: 'window', includeUncontrolled: true })
  const there = pages.find(({ url }) => pathOf(url) === path)
  return there ? there.focus() : clients.openWindow(path)
}
