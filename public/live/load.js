// Loads parts of the page and puts them into their places.

/** The page's reader may no longer read the session, or it is gone: asking again brings nothing. */
export const isRefused = (status) => [401, 403, 404].includes(status)

/** An error response throws: it must not land in the feed. */
export const loadInto = (live) => async (address) => {
  const response = await fetch(address, { headers: { accept: 'text/html' } })
  if (!response.ok) throw new Error(address, { cause: response.status })
  await htmx.swap({ text: await response.text(), sourceElement: live, swap: 'none' })
}
