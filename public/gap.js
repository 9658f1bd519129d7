// On a page that begins with older rows: beyond its gap the newest are on another page, and the button for them leads there. Whoever has
// typed something is asked first.
import { mayLeaveFor } from './leave.js'

{
  const lead = (event) => {
    if (!document.getElementById('gap') || !event.target.closest('#jump')) return
    event.stopPropagation() // otherwise live.js would scroll to the end of the rows that are here
    if (!mayLeaveFor('The newest messages are')) return
    const address = new URL(location) // the board, the records and an answer stay
    address.searchParams.delete('around')
    address.hash = ''
    location.assign(address)
  }
  document.addEventListener('click', lead, { capture: true })
}
