// What pages are better with and work without: buttons that copy, and "/" to search.
for (const button of document.querySelectorAll('[data-copy]')) {
  if (!navigator.clipboard) continue // not on plain http beyond this machine: the text can be selected
  button.hidden = false
  button.addEventListener('click', () => button.dispatchEvent(new CustomEvent('copytext', { bubbles: true, detail: textFor(button) })))
}

// That it was copied, for those who look at the button and for those who listen; or that it was not, for all. Also for live.js.
const COPIED = { shape: '#i-tick', says: 'Copied', ms: 1_500 }
const REFUSED = { shape: '#i-copy', says: 'Copy failed: select the text', ms: 6_000 }
const said = document.createElement('p')
said.className = 'sr-only'
said.setAttribute('role', 'status')
document.body.append(said)
const copyShape = document.getElementById('i-copy')
const tick = copyShape.cloneNode() // drawn like the other icons (components/parts/icon.tsx), and of no use without script
tick.id = 'i-tick'
tick.innerHTML = '<path d="M20 6 9 17l-5-5"/>'
copyShape.after(tick)

document.addEventListener('copytext', async ({ target: button, detail: text }) => {
  const copied = async () => navigator.clipboard.writeText(await text)
  tell(
    button,
    await copied().then(
      () => COPIED,
      () => REFUSED,
    ),
  )
})

let takeBack
const say = (text, ms, forAll, undo) => {
  said.textContent = text
  said.className = forAll ? 'notice' : 'sr-only'
  const end = setTimeout(() => takeBack(), ms)
  takeBack = () => {
    clearTimeout(end)
    takeBack = undefined
    said.textContent = ''
    said.className = 'sr-only'
    undo?.()
  }
}

const tell = (button, outcome) => {
  takeBack?.()
  const icon = button.querySelector('use')
  const { title } = button
  const show = (shape, says) => {
    icon.setAttribute('href', shape)
    button.title = says
    button.classList.toggle('copied', shape === COPIED.shape)
  }
  show(outcome.shape, outcome.says)
  say(outcome.says, outcome.ms, outcome === REFUSED, () => show('#i-copy', title))
}

// For all, for a moment: acts.js.
document.addEventListener('notice', ({ detail: text }) => {
  takeBack?.()
  say(text, REFUSED.ms, true)
})

// What stands beside the button; or the document, as it was written, in the version that the page shows.
async function textFor(button) {
  if (button.dataset.copy === '') return button.closest('figure').querySelector('pre').textContent
  const { version } = document.getElementById('doc').dataset
  return version === '0' ? '' : (await fetch(`${button.dataset.copy}/${version}.md`)).text()
}

addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return
  if (event.target.closest?.('input, textarea, select') || document.querySelector('dialog[open]')) return
  event.preventDefault()
  const search = [...document.querySelectorAll('input[type=search]')].find(({ offsetWidth }) => offsetWidth > 0)
  if (search) search.focus()
  else document.querySelector('a[href="/search"]')?.click() // where the field has no room; none for guests
})
