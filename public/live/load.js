// Loads parts of the page and puts them into their places.

/** The page's reader may no longer read this, or it is gone: asking again brings nothing. */
export const isRefused = (status) => [401, 403, 404].includes(status)

/** The text at an address of this server. Throws with the status as its cause where there is another answer, or a page to sign in (as 401):
 *  neither must land in the page. */
export const loadText = async (address, options) => {
  const response = await fetch(address, { headers: { accept: 'text/html' }, ...options })
  const status = response.redirected ? 401 : response.status
  if (status >= 400) throw new Error(`${response.url}: ${status}`, { cause: status })
  return response.text()
}

/** Puts what has its places named into them. `sourceElement`: where htmx tells of it. */
export const place = (text, sourceElement) => htmx.swap({ text, sourceElement, swap: 'none' })

export const loadInto = async (address, sourceElement) => place(await loadText(address), sourceElement)
