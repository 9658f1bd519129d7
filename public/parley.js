// On all pages: buttons that copy, notices, and keys. Pages work without them.
import { $, isTyping } from './live/elements.js'
import { loadText } from './live/load.js'

for (const button of document.querySelectorAll('[data-copy]')) {
  if (!navigator.clipboard) continue // missing on plain http beyond this machine: the text can be selected
  button.hidden = false
  button.addEventListener('click', () => button.dispatchEvent(new CustomEvent('copytext', { bubbles: true, detail: textFor(button) })))
}

// A copy that worked is shown on the button and told to screen readers; one that failed is shown as a notice. live/copy.js uses it too.
const COPIED = { shape: '#i-tick', text: 'Copied', ms: 1_500 }
const REFUSED = { shape: '#i-copy', text: 'Copy failed: select the text', ms: 6_000 }
const status = document.createElement('p')
status.className = 'sr-only'
status.setAttribute('role', 'status')
document.body.append(status)
const copyShape = $('i-copy')
const tick = copyShape.cloneNode() // added here, because only scripts use it; drawn like the other icons (components/parts/icon.tsx)
tick.id = 'i-tick'
tick.innerHTML = '<path d="M20 6 9 17l-5-5"/>'
copyShape.after(tick)

document.addEventListener('copytext', async ({ target: button, detail: text }) => {
  const copied = async () => navigator.clipboard.writeText(await text)
  showOutcome(
    button,
    await copied().then(
      () => COPIED,
      () => REFUSED,
    ),
  )
})

let takeBack
const announce = (text, ms, visible, undo) => {
  status.textContent = text
  status.className = visible ? 'notice' : 'sr-only'
  const end = setTimeout(() => takeBack(), ms)
  takeBack = () => {
    clearTimeout(end)
    takeBack = undefined
    status.textContent = ''
    status.className = 'sr-only'
    undo?.()
  }
}

const showOutcome = (button, outcome) => {
  takeBack?.()
  const icon = button.querySelector('use')
  const { title } = button
  const show = (shape, tooltip) => {
    icon.setAttribute('href', shape)
    button.title = tooltip
    button.classList.toggle('copied', shape === COPIED.shape)
  }
  show(outcome.shape, outcome.text)
  announce(outcome.text, outcome.ms, outcome === REFUSED, () => show('#i-copy', title))
}

// A notice, for a moment: forms.js sends it.
document.addEventListener('notice', ({ detail: text }) => {
  takeBack?.()
  announce(text, REFUSED.ms, true)
})

// The text beside the button, or the document's markdown in the version that the page shows.
async function textFor(button) {
  if (button.dataset.copy === '') return button.closest('figure').querySelector('pre').textContent
  return loadText(`${button.dataset.copy}/${$('doc').dataset.version}.md`)
}

addEventListener('keydown', (event) => {
  if (isTyping(event)) return
  if (event.key === 'i') $('approvals-link')?.click() // guests have none
  if (event.key !== '/') return
  event.preventDefault()
  const search = [...document.querySelectorAll('input[type=search]')].find(({ offsetWidth }) => offsetWidth > 0)
  if (search) search.focus()
  else document.querySelector('a[href="/search"]')?.click() // a link where the field has no room; guests have neither
})
