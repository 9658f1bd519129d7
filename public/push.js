// The settings page: whether this browser is told, and the form that turns it on. The words for each state stand in the page.
const section = document.getElementById('push')

if (section) {
  const form = section.querySelector('form')
  const show = (state) => (section.dataset.state = state)

  const registered = () => navigator.serviceWorker.getRegistration('/')
  const bytesOf = (base64url) => Uint8Array.from(atob(base64url.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0))
  const hashOf = async (text) => {
    const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
    return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  }

  const stateNow = async () => {
    if (!isSecureContext) return 'insecure'
    if (!('serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window) || !section.dataset.key) return 'unsupported'
    if (Notification.permission === 'denied') return 'denied'
    const subscription = await (await registered())?.pushManager.getSubscription()
    return subscription && section.dataset.here === (await hashOf(subscription.endpoint)) ? 'on' : 'off'
  }

  // A subscription to the keys of another database on this address is of no use: it is given up for a new one.
  const subscribe = async () => {
    await navigator.serviceWorker.register('/sw.js', { scope: '/' })
    const { pushManager } = await navigator.serviceWorker.ready
    const options = { userVisibleOnly: true, applicationServerKey: bytesOf(section.dataset.key) }
    try {
      return await pushManager.subscribe(options)
    } catch (error) {
      const former = await pushManager.getSubscription()
      if (!former) throw error
      await former.unsubscribe()
      return pushManager.subscribe(options)
    }
  }

  const turnOn = async () => {
    if ((await Notification.requestPermission()) !== 'granted') return show(await stateNow())
    const { endpoint, keys } = (await subscribe()).toJSON()
    Object.assign(form.elements.endpoint, { value: endpoint })
    Object.assign(form.elements.p256dh, { value: keys.p256dh })
    Object.assign(form.elements.auth, { value: keys.auth })
    form.submit()
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault()
    turnOn().catch(() => show('failed'))
  })
  stateNow().then(show, () => show('unsupported'))
}
