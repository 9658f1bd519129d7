// Concluded while somebody writes: the text stays in the form (components/composer.tsx), and goes nowhere. Before htmx hears of it.
import { $ } from './elements.js'

export const holdWhenConcluded = () => {
  const hold = (event) => {
    if (event.target.id !== 'composer' || $('session-head').dataset.concluded === undefined) return
    event.preventDefault()
    event.stopPropagation()
  }
  document.addEventListener('submit', hold, { capture: true })
}
