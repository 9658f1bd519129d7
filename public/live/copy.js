// The one button that copies a message, as it was written: it goes to the row that is pointed at. public/parley.js does the copying.
import { $ } from './elements.js'
import { sequenceOf } from './rows.js'

export const offerCopies = (rows, path) => {
  const copy = $('copy-message')
  const offer = ({ target }) => {
    const row = target.closest?.('.row-message')
    if (!row || copy.parentElement === row || copy.matches('.copied')) return // the tick stays with what was copied
    copy.hidden = false
    row.append(copy)
  }
  if (navigator.clipboard) for (const name of ['mouseover', 'focusin']) rows.addEventListener(name, offer)
  copy.addEventListener('click', () => {
    const row = copy.closest('.row')
    const seen = row.querySelector('.prose').innerText
    const detail = fetch(`${path}/events/${sequenceOf(row)}.txt`).then(
      (answer) => (answer.ok ? answer.text() : seen),
      () => seen,
    )
    copy.dispatchEvent(new CustomEvent('copytext', { bubbles: true, detail }))
  })
}
