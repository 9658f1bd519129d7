// The one button that copies a message: it goes to the row that is pointed at. public/parley.js does the copying.
import { $ } from './elements.js'

export const offerCopies = (rows) => {
  const copy = $('copy-message')
  const offer = ({ target }) => {
    const row = target.closest?.('.row-message')
    if (!row || copy.parentElement === row || copy.matches('.copied')) return // the tick stays with what was copied
    copy.hidden = false
    row.append(copy)
  }
  if (navigator.clipboard) for (const name of ['mouseover', 'focusin']) rows.addEventListener(name, offer)
  copy.addEventListener('click', () => {
    const detail = copy.closest('.row').querySelector('.prose').innerText
    copy.dispatchEvent(new CustomEvent('copytext', { bubbles: true, detail }))
  })
}
