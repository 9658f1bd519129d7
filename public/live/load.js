// Loads parts of the page and puts them into their places. An error response throws: it must not land in the feed.
export const loadInto = (live) => async (address) => {
  const response = await fetch(address, { headers: { accept: 'text/html' } })
  if (!response.ok) throw new Error(`${address}: ${response.status}`)
  await htmx.swap({ text: await response.text(), sourceElement: live, swap: 'none' })
}
