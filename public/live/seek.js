// A link to a row that is not here leads to the page that has it.
import { $ } from './elements.js'
import { lastShown } from './rows.js'

export const seekRows = ({ path, scroller, rows }) => {
  const seek = () => {
    const sequence = Number(/^#m(\d+)$/.exec(location.hash)?.[1] ?? 0)
    const asked = Number(new URLSearchParams(location.search).get('around') ?? 0)
    if (sequence === 0 || $(`m${sequence}`) || sequence === asked || sequence > lastShown(rows)) return
    location.assign(`${path}?around=${sequence}#m${sequence}`)
  }
  addEventListener('hashchange', seek)
  seek()
  showSought($(`m${scroller.dataset.sought}`))
}

const showSought = (row) => {
  if (!row) return
  row.scrollIntoView({ block: 'center' })
  if (!location.hash) row.classList.add('sought')
}
