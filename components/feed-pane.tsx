import { Icon } from './icon.tsx'
import { Lanes } from './lanes.tsx'
import { Listening } from './roster.tsx'
import type { SessionView } from './session-view.ts'
import { Snippet } from './snippet.tsx'
import { claude, invitation, type Link } from './snippets.ts'
import { moment } from './time.ts'
import { Empty } from './ui/empty.tsx'

interface Props {
  session: SessionView
  link: Link
}

/** The whole feed in a scroller of its own, which begins at its end. */
export const FeedPane = ({ session, link }: Props) => (
  <section
    id="feed"
    aria-label="Feed"
    className="flex min-h-0 min-w-0 flex-1 flex-col bg-card max-lg:max-h-[78dvh] max-lg:border-b lg:border-r"
  >
    <div className="flex h-10 shrink-0 items-center gap-2 border-b px-4 max-lg:hidden">
      <h2 className="text-[13px] font-medium">Feed</h2>
      <span className="text-[12px] text-muted-foreground tabular-nums">{session.feed.shown}</span>
      <Filter />
    </div>
    {session.lanes.length > 0 && <Lanes lanes={session.lanes} />}
    <div tabIndex={0} role="log" aria-label="Messages" aria-live="off" className="feed-scroll thin-scroll min-h-0 flex-1">
      {session.feed.shown === 0 ? <NothingYet session={session} link={link} /> : <Rows session={session} />}
    </div>
    <Listening teams={session.teams} concluded={session.concluded} />
  </section>
)

const Rows = ({ session }: { session: SessionView }) => (
  <div className="pb-3">
    <p className="px-4 pt-4 pb-1 text-center text-[12px] text-muted-foreground">
      {session.feed.cut ? (
        <a href={`/sessions/${session.id}?all=1`} className="rounded-md px-2 py-1 hover:bg-accent hover:text-foreground">
          The newest {session.feed.shown.toLocaleString('en')} are shown. Show the whole feed
        </a>
      ) : (
        <>Start of the session · {moment(session.startedAt)}</>
      )}
    </p>
    <ol dangerouslySetInnerHTML={{ __html: session.feed.html }} />
  </div>
)

const FILTERS = [
  ['all', 'All'],
  ['messages', 'Messages'],
  ['events', 'Events'],
] as const

// Radio buttons and :has() in app.css: filtering needs no script.
const Filter = () => (
  <fieldset className="ml-auto flex gap-0.5">
    <legend className="sr-only">Show</legend>
    {FILTERS.map(([value, label]) => (
      <label
        key={value}
        className="cursor-pointer rounded-md px-2 py-1 text-[12px] text-muted-foreground hover:text-foreground has-checked:bg-secondary has-checked:font-medium has-checked:text-secondary-foreground has-focus-visible:outline-2 has-focus-visible:outline-ring"
      >
        <input id={`show-${value}`} type="radio" name="show" value={value} defaultChecked={value === 'all'} className="sr-only" />
        {label}
      </label>
    ))}
  </fieldset>
)

const NothingYet = ({ session, link }: Props) => (
  <div className="my-auto">
    <Empty icon={<Icon name="message" />} title="Nothing said yet">
      {session.concluded ? (
        'This session was concluded before anybody spoke.'
      ) : (
        <>
          Connect a second team and tell it to join.
          <div className="mx-auto mt-4 grid max-w-md gap-2">
            <Snippet label="In the agent's project" code={claude(link)} />
            <Snippet label="To the agent" code={invitation(link, session.id)} />
          </div>
        </>
      )}
    </Empty>
  </div>
)
