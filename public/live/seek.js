// A link to a row that is not loaded leads to the page that has it. After a reload, or coming back, the page shows the row that it showed.
import { $ } from './elements.js'
import { atEnd, newestKnown, sequenceOf } from './rows.js'

export const seekRows = ({ path, scroller, rows }) => {
  const around = Number(new URLSearchParams(location.search).get('around') ?? 0)
  const seek = (left) => {
    const sequence = left ?? Number(/^#m(\d+)$/.exec(location.hash)?.[1] ?? 0)
    if ($(`m${sequence}`)) return $(`m${sequence}`).scrollIntoView()
    if (sequence === 0 || sequence === around || sequence > newestKnown(rows)) return
    location[left ? 'replace' : 'assign'](`${path}?around=${sequence}#m${sequence}`)
  }
  addEventListener('hashchange', () => seek())
  scroller.addEventListener('scrollend', () => history.replaceState({ row: atEnd(scroller) ? 0 : rowAtTop(scroller, rows) }, ''))
  showSought($(`m${scroller.dataset.sought}`))
  seek(history.state?.row)
}

const rowAtTop = (scroller, rows) => {
  const { top } = scroller.getBoundingClientRect()
  return sequenceOf([...rows.children].find((row) => sequenceOf(row) && row.getBoundingClientRect().bottom > top + 1))
}

const showSought = (row) => {
  if (!row) return
  row.scrollIntoView({ block: 'center' })
  if (!location.hash) row.classList.add('sought')
}
