// A link to a row that is not loaded leads to the page that has it; whoever has typed something is asked first. After a reload, or coming back,
// the page shows the row that it showed.
import { mayLeaveFor } from '../leave.js'
import { $ } from './elements.js'
import { atEnd, newestKnown, sequenceOf } from './rows.js'

export const seekRows = ({ scroller, rows }) => {
  const { sought } = scroller.dataset
  const linked = () => Number(/^#m(\d+)$/.exec(location.hash)?.[1] ?? 0)
  const seek = (sequence, from) => {
    if ($(`m${sequence}`)) return $(`m${sequence}`).scrollIntoView()
    if (sequence === 0 || sequence === Number(sought) || sequence > newestKnown(rows)) return
    if (from && !mayLeaveFor('That row is')) return history.replaceState(null, '', from) // the link leads there when it is followed again
    const address = new URL(location) // the board, the records and an answer stay
    address.searchParams.set('around', sequence)
    address.hash = `m${sequence}`
    location.replace(address) // the link has made an entry of the history already: Back is not to lead to that
  }
  addEventListener('hashchange', ({ oldURL }) => seek(linked(), oldURL))
  scroller.addEventListener('scrollend', () => history.replaceState({ row: atEnd(scroller) ? 0 : rowAtTop(scroller, rows) }, ''))
  showSought($(`m${sought}`))
  seek(history.state?.row ?? linked())
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
