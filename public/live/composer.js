// The forms for messages and for prompts. Sending a message scrolls to the feed's end, where it arrives. In a session that was concluded
// meanwhile nothing is sent, and the text stays in its form (components/session/composer.tsx): the event is stopped before htmx gets it.
import { $ } from './elements.js'

export const watchComposer = () => {
  const onSubmit = (event) => {
    const says = event.target.id === 'composer'
    if (!says && event.target.id !== 'prompt-box') return
    // Beyond a gap, going to the end would load another page.
    if ($('session-head').dataset.concluded === undefined) return says && !$('gap') && $('jump').click()
    event.preventDefault()
    event.stopPropagation()
  }
  document.addEventListener('submit', onSubmit, { capture: true })
}
