// Loads parts of the page and puts them into their places.

/** The page's reader may no longer read this, or it is gone: asking again brings nothing. */
export const isRefused = (status) => [401, 403, 404].includes(status)

/** A page to sign in, to which one is led, is a refusal too. */
export const statusOf = ({ redirected, status }) => (redirected ? 401 : status)

/** The text at an address of this server. A refusal throws, with the status as its cause: it must not land in the page. */
export const loadText = async (address, options) => {
  const response = await fetch(address, { headers: { accept: 'text/html' }, ...options })
  const status = statusOf(response)
  if (status >= 400) throw new Error(`${response.url}: ${status}`, { cause: status })
  return response.text()
}

/** Puts what has its places named into them. `sourceElement`: where htmx tells of it. */
export const place = (text, sourceElement) => htmx.swap({ text, sourceElement, swap: 'none' })

export const loadInto = async (address, sourceElement) => place(await loadText(address), sourceElement)
