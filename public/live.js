// The session page while it is open. htmx reads the stream and puts what comes where it belongs; what lies in live/ keeps the stream
// going, brings what is missing of the feed, and tells the reader what is new.
import { bringInto } from './live/bring.js'
import { followComposer } from './live/composer.js'
import { offerCopies } from './live/copy.js'
import { followDocument } from './live/document.js'
import { $ } from './live/elements.js'
import { keepRows } from './live/history.js'
import { listenToKeys } from './live/keys.js'
import { countTeams } from './live/roster.js'
import { toEnd } from './live/rows.js'
import { seekRows } from './live/seek.js'
import { seenUpTo } from './live/seen.js'
import { followStream } from './live/stream.js'
import { countUnread, markUnread } from './live/unread.js'

const start = (live) => {
  const path = `/sessions/${live.dataset.session}`
  const [scroller, rows] = [$('scroller'), $('rows')]
  const bring = bringInto(live)
  const goToEnd = () => toEnd(path, scroller)
  $('jump').addEventListener('click', goToEnd)
  listenToKeys(rows, goToEnd)
  offerCopies(rows, path)
  followComposer(goToEnd)
  countTeams()
  seekRows({ path, scroller, rows })
  markUnread(rows, seenUpTo(live.dataset.session))
  const forgetOldest = keepRows({ path, scroller, rows, bring })
  countUnread({ live, scroller, rows, onMessages: forgetOldest })
  followDocument(live, path, bring)
  followStream(live, path)
}

const live = $('live')
if (live) setTimeout(() => start(live)) // after htmx, which begins in a task of its own
