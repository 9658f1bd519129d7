// Pieces of the page, put where they say. Only what was answered well: an error must not land in the feed.
export const bringInto = (live) => async (address) => {
  const response = await fetch(address, { headers: { accept: 'text/html' } })
  if (!response.ok) throw new Error(`${address}: ${response.status}`)
  await htmx.swap({ text: await response.text(), sourceElement: live, swap: 'none' })
}
