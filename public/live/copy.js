// One button copies the markdown of a message: it moves to the row under the pointer. public/parley.js does the copying.
import { $ } from './elements.js'
import { loadText } from './load.js'
import { sequenceOf } from './rows.js'

export const offerCopies = (rows, path) => {
  const copy = $('copy-message')
  const offer = ({ target }) => {
    const row = target.closest?.('.row-message.group')
    if (!row || copy.parentElement === row || copy.matches('.copied')) return // the tick stays with the message that was copied
    copy.hidden = false
    row.append(copy)
  }
  if (navigator.clipboard) for (const name of ['mouseover', 'focusin']) rows.addEventListener(name, offer)
  copy.addEventListener('click', () => {
    const row = copy.closest('.row')
    const rendered = row.querySelector('.prose').innerText
    const detail = loadText(`${path}/events/${sequenceOf(row)}.txt`).catch(() => rendered)
    copy.dispatchEvent(new CustomEvent('copytext', { bubbles: true, detail }))
  })
}
