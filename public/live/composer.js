// The form for messages. Sending scrolls to the feed's end, where the message arrives. In a session that was concluded meanwhile nothing is sent,
// and the text stays in the form (components/session/composer.tsx): the event is stopped before htmx gets it.
import { $ } from './elements.js'

export const watchComposer = (toEnd) => {
  const onSubmit = (event) => {
    if (event.target.id !== 'composer') return
    if ($('session-head').dataset.concluded === undefined) return $('gap') || toEnd() // beyond a gap, going to the end would load another page
    event.preventDefault()
    event.stopPropagation()
  }
  document.addEventListener('submit', onSubmit, { capture: true })
}
