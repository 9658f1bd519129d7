// What a person sends. Concluded while they write, the text stays in the form (components/session/composer.tsx), and goes nowhere: before htmx
// hears of it. Whoever sends something sees it arrive, wherever they were reading.
import { $ } from './elements.js'

export const followComposer = (toEnd) => {
  const sent = (event) => {
    if (event.target.id !== 'composer') return
    if ($('session-head').dataset.concluded === undefined) return $('gap') || toEnd() // beyond a gap the end is another page
    event.preventDefault()
    event.stopPropagation()
  }
  document.addEventListener('submit', sent, { capture: true })
}
