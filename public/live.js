// The session page while it is open: the scripts of live/ follow its stream, from which htmx puts each part into its place, load missing rows
// of the feed, and show the reader what is new.
import { offerSides } from './live/aside.js'
import { watchComposer } from './live/composer.js'
import { offerCopies } from './live/copy.js'
import { followDocument } from './live/document.js'
import { $ } from './live/elements.js'
import { follow } from './live/follow.js'
import { keepRows } from './live/history.js'
import { listenToKeys } from './live/keys.js'
import { isRefused, loadInto, place } from './live/load.js'
import { countTeams } from './live/roster.js'
import { seekRows } from './live/seek.js'
import { seenUpTo } from './live/seen.js'
import { countUnread, markUnread } from './live/unread.js'

const start = (live) => {
  const path = `/sessions/${live.dataset.session}`
  const [scroller, rows] = [$('scroller'), $('rows')]
  const load = (address) => loadInto(address, live)
  $('jump').addEventListener('click', () => scroller.scrollTo({ top: 0 }))
  listenToKeys(rows)
  offerCopies(rows, path)
  watchComposer()
  countTeams()
  seekRows({ scroller, rows })
  markUnread(rows, seenUpTo(live.dataset.session))
  const removeOldest = keepRows({ path, scroller, rows, load })
  countUnread({ live, scroller, rows, onMessages: removeOldest })
  followDocument(live, path, load)
  offerSides(path)
  follow({
    newest: `${live.dataset.cursor}.${live.dataset.doc}`,
    addressAfter: (id) => `${path}/live?after=${id.replace('.', '&doc=')}`,
    events: { message: ({ data }) => place(data, live) },
    isOver: isRefused,
  })
}

const live = $('live')
if (live) setTimeout(() => start(live)) // after htmx, which starts in a task of its own
