import type { ServerLink } from '../../src/core/server-link.ts'
import { PromptBox, PromptOrMessage } from '../agents/prompt-box.tsx'
import { Composer, type ComposerProps } from './composer.tsx'
import { Icon } from '../parts/icon.tsx'
import { Reconnecting } from '../parts/reconnecting.tsx'
import { Lanes } from './lanes.tsx'
import { Listening } from './roster.tsx'
import type { SessionView } from './session-view.ts'
import { LoopStrip, WakesStrip } from './warning-strip.tsx'
import { Snippet } from '../parts/snippet.tsx'
import { connecting, invitation } from '../parts/snippets.ts'
import { moment } from '../parts/time.ts'
import { Empty } from '../ui/empty.tsx'

interface Props {
  session: SessionView
  link: ServerLink
}

/** The feed in a scroller of its own that begins at the newest row. */
export const FeedPane = ({ session, link, composer }: Props & { composer: ComposerProps }) => (
  <section id="feed" aria-label="Feed" className="flex min-h-0 min-w-0 flex-1 flex-col bg-card on-document:max-lg:invisible lg:border-r">
    <div className="flex h-10 shrink-0 items-center gap-2 border-b px-4 max-lg:hidden">
      <h2 className="text-[13px] font-medium">Feed</h2>
      <Count messages={session.messages} />
      <Filter />
    </div>
    <h2 className="sr-only lg:hidden">Feed</h2>
    <LoopStrip {...session} />
    <WakesStrip {...session} />
    <Lanes lanes={session.lanes} teams={session.teams} />
    <div className="relative flex min-h-0 flex-1 flex-col">
      <div
        id="scroller"
        tabIndex={0}
        role="log"
        aria-label="Messages"
        aria-live="off"
        className="feed-scroll thin-scroll min-h-0 flex-1"
        data-sought={session.feed.sought}
      >
        <div className="pb-3 has-[#rows:empty]:my-auto has-[#rows:empty]:pb-0">
          <Older session={session.id} before={session.feed.olderThan} startedAt={session.startedAt} />
          <ol id="rows" className="peer" dangerouslySetInnerHTML={{ __html: session.feed.html }} />
          {session.cursor === 0 && (
            <NothingYet
              session={session}
              link={composer.person?.role === 'guest' ? undefined : link}
              prompts={composer.person?.role === 'person'}
            />
          )}
        </div>
      </div>
      <Floating />
    </div>
    <Listening {...session} />
    {session.agent && composer.person?.role === 'person' ? (
      <PromptOrMessage
        toAgent={!composer.answers && !session.teams.some(({ agent, polling, status }) => !agent && (polling || status === 'asleep'))}
        prompt={<PromptBox {...session.agent.prompt} />}
        message={<Composer {...composer} />}
      />
    ) : (
      <Composer {...composer} />
    )}
  </section>
)

export const Count = ({ messages }: { messages: number }) => (
  <span id="count" title="Messages" className="text-[12px] text-muted-foreground tabular-nums">
    {messages.toLocaleString('en')}
  </span>
)

/** The feed's upper end: the start of the session, or a link to older rows. */
export const Older = ({ session, before, startedAt }: { session: string; before: number | undefined; startedAt: string }) => (
  <p
    id="older"
    data-before={before}
    className="group/older px-4 pt-4 pb-1 text-center text-[12px] text-muted-foreground [#older:has(+#rows:empty)]:hidden"
  >
    <a
      href={`/sessions/${session}?all=1`}
      className="rounded-md px-2 py-1 not-group-data-before/older:hidden hover:bg-accent hover:text-foreground"
    >
      Show the whole feed
    </a>
    <span className="group-data-before/older:hidden">Start of the session · {moment(startedAt)}</span>
  </p>
)

/** Stands for rows that are missing in the feed: the script brings them when it scrolls into view; without script, links do. */
export const Gap = ({ session, after, until }: { session: string; after: number; until: number }) => (
  <li id="gap" data-after={after} data-until={until} className="flex justify-center gap-3 px-4 py-4 text-[12px] text-muted-foreground">
    <a
      href={`/sessions/${session}?around=${after + 1}#m${after + 1}`}
      className="rounded-md px-2 py-1 hover:bg-accent hover:text-foreground"
    >
      Show what came next
    </a>
    <a href={`/sessions/${session}`} className="rounded-md px-2 py-1 hover:bg-accent hover:text-foreground">
      Go to the newest
    </a>
  </li>
)

// Hidden until the script shows them.
const Floating = () => (
  <>
    <Reconnecting />
    <button
      id="jump"
      type="button"
      hidden
      className="absolute bottom-3 left-1/2 z-10 flex h-8 -translate-x-1/2 cursor-pointer items-center gap-1.5 rounded-full border bg-popover px-3.5 text-[12.5px] font-medium shadow-md hover:bg-accent"
    >
      <Icon name="down" className="size-3.5" />
      <span>Jump to latest</span>
    </button>
    <button
      id="copy-message"
      type="button"
      hidden
      aria-label="Copy message"
      title="Copy message"
      className="absolute top-0 right-3 grid [.pt-3>&]:top-8 size-6 cursor-pointer place-items-center rounded-md border bg-popover text-muted-foreground opacity-0 shadow-xs before:absolute before:-inset-2 group-focus-within:opacity-100 group-hover:opacity-100 hover:text-foreground"
    >
      <Icon name="copy" className="size-3.5" />
    </button>
    <p id="news" aria-live="polite" className="sr-only" />
  </>
)

const FILTERS = [
  ['all', 'All'],
  ['messages', 'Messages'],
  ['events', 'Events'],
] as const

// Radio buttons and :has() in session.css: filtering needs no script.
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

// A guest gets no link, and can invite nobody.
const NothingYet = ({ session, link, prompts }: { session: SessionView; link: ServerLink | undefined; prompts: boolean }) => (
  <div className="hidden peer-[:not(:has([id^=m]))]:block">
    <Empty icon={<Icon name="message" />} title="Nothing said yet">
      {session.concluded || session.archived
        ? `This session was ${session.concluded ? 'concluded' : 'archived'} before anybody spoke.`
        : link && (
            <>
              {session.agent
                ? `Its agent has no prompt yet${prompts ? ': give it one below' : ''}. Other agents can join, too.`
                : `Connect ${session.teams.length === 0 ? 'an agent' : 'a second team'} and tell it to join.`}
              <div className="mx-auto mt-4 grid max-w-md gap-2">
                <Snippet {...connecting(link)} />
                <Snippet label="To the agent" code={invitation(link, session.id)} />
              </div>
            </>
          )}
    </Empty>
  </div>
)
