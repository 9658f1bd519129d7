// On a page that begins with older rows: beyond its gap the newest are on another page, and the button for them leads there. Whoever has
// typed something is asked first.
{
  const TEXTS = 'main :is(textarea, input:not([type=radio], [type=checkbox]))'
  const isTyped = ({ value, defaultValue }) => value !== defaultValue
  const lead = (event) => {
    if (!document.getElementById('gap') || !event.target.closest('#jump')) return
    event.stopPropagation() // otherwise live.js would scroll to the end of the rows that are here
    const typed = [...document.querySelectorAll(TEXTS)].some(isTyped)
    if (typed && !confirm('The newest messages are on another page, and what you have typed here is not. Go there without it?')) return
    const address = new URL(location) // the board, the records and an answer stay
    address.searchParams.delete('around')
    address.hash = ''
    location.assign(address)
  }
  document.addEventListener('click', lead, { capture: true })
}
