import type { ServerLink } from '../../src/core/server-link.ts'
import { visible } from '../../src/core/escape-invisible.ts'
import { cn } from '../parts/cn.ts'
import { Conclusion, DocumentPane } from '../document/document-pane.tsx'
import { FeedPane } from './feed-pane.tsx'
import { Teams } from './roster.tsx'
import { SessionActions } from './session-actions.tsx'
import type { SessionState, SessionView } from './session-view.ts'
import { Shell, TO_CONTENT, type Frame, type Skip } from '../site/shell.tsx'
import { Badge } from '../ui/badge.tsx'

interface Props {
  frame: Frame
  session: SessionView
  link: ServerLink
  /** For what the reader may say here. */
  idempotencyKey: string
}

export const SessionPage = ({ frame, session, link, idempotencyKey }: Props) => (
  <Shell
    frame={frame}
    title={`${session.title} · Parley`}
    crumbs={[{ label: 'Sessions', href: '/' }, { label: session.id.slice(0, 8) }]}
    full="everywhere"
    skips={frame.person?.role === 'person' ? [...SKIPS, TO_COMPOSER] : SKIPS}
    paintsWith={session.feed.streamed ? undefined : 'live'}
  >
    <main id="main" className="flex min-h-0 flex-1 flex-col">
      <Head session={session} person={frame.person} />
      <Conclusion document={session.document} />
      <Tabs version={session.document.version} />
      <div className="panes flex min-h-0 flex-1 max-lg:min-h-72">
        <FeedPane session={session} link={link} composer={{ sessionId: session.id, person: frame.person, idempotencyKey }} />
        <DocumentPane
          document={session.document}
          written={session.written}
          history={`/sessions/${session.id}/history`}
          guest={frame.person?.role === 'guest'}
        />
      </div>
      <div id="live" data-session={session.id} data-cursor={session.cursor} data-doc={session.written.version} hidden />
    </main>
  </Shell>
)

// Where one pane shows, the content is that pane: #main would name the document no more, and so bring the feed.
const SKIPS: Skip[] = [
  { ...TO_CONTENT, when: 'on-document:max-lg:hidden' },
  { ...TO_CONTENT, href: '#document', when: 'lg:hidden not-on-document:hidden' },
  { label: 'Skip to the document', href: '#document', when: 'on-document:max-lg:hidden' },
]
const TO_COMPOSER: Skip = { label: 'Skip to the composer', href: '#message', when: 'concluded:hidden' }

const TAB = 'flex items-center gap-1.5 border-b-2 px-0.5'
const CHOSEN = 'border-foreground font-medium'
const OTHER = 'border-transparent text-muted-foreground'

// Where the panes do not fit side by side. Links to a pane: app.css shows the one that the address names, with no script and by the
// back button too.
const Tabs = ({ version }: { version: number }) => (
  <nav id="tabs" aria-label="Parts" className="sticky top-0 z-20 flex h-9 shrink-0 gap-4 border-b bg-background px-4 text-[13px] lg:hidden">
    <a href="#feed" className={cn(TAB, CHOSEN, 'on-document:border-transparent on-document:font-normal on-document:text-muted-foreground')}>
      Feed
    </a>
    <a
      href="#document"
      className={cn(
        TAB,
        OTHER,
        'data-news:after:size-1.5 data-news:after:rounded-full data-news:after:bg-brand on-document:border-foreground on-document:font-medium on-document:text-foreground',
      )}
    >
      Document
      <span className="text-[11px] font-normal text-muted-foreground tabular-nums">v{version}</span>
    </a>
  </nav>
)

const Head = ({ session, person }: { session: SessionView; person: Frame['person'] }) => (
  <section className="shrink-0 border-b px-4 pt-3 pb-2.5 low:py-1" aria-label="Session">
    <div className="flex items-start gap-4">
      <SessionHead session={session} />
      <SessionActions sessionId={session.id} person={person} />
    </div>
    <Teams {...session} />
  </section>
)

/** Title, state and description. `renamed`: the title has just changed, and shows it. */
export const SessionHead = ({ session, renamed = false }: { session: SessionState; renamed?: boolean }) => (
  <div id="session-head" data-concluded={session.concluded || undefined} className="min-w-0 flex-1">
    <div className="flex items-start gap-2.5">
      <h1
        dir="auto"
        className={cn(
          'min-w-0 text-[16px] leading-5.5 font-semibold tracking-[-0.015em] wrap-anywhere max-sm:line-clamp-3 sm:text-[17px] sm:leading-6',
          renamed && 'flash',
        )}
      >
        {visible(session.title)}
      </h1>
      <Badge variant={session.concluded ? 'concluded' : session.quietFor ? 'warn' : 'live'} className="mt-0.5">
        <span className={cn('dot size-1.5 rounded-full', session.concluded ? 'bg-violet' : session.quietFor ? 'bg-warn' : 'bg-ok')} />
        {session.concluded ? 'Concluded' : session.quietFor ? 'Idle' : 'Live'}
      </Badge>
      {session.loop && (
        <a href="#loop" className="mt-0.5 flex" title="The teams keep repeating themselves">
          <Badge variant="warn">Needs a person</Badge>
        </a>
      )}
    </div>
    {session.description && <Description text={visible(session.description)} />}
  </div>
)

const ONE_LINE = 140

// A long description is one line until it is opened: it may have 10,000 characters, and the feed is what people come for.
const Description = ({ text }: { text: string }) =>
  text.length <= ONE_LINE && !text.includes('\n') ? (
    <p dir="auto" className="mt-0.5 w-fit text-[13px] low:hidden text-muted-foreground wrap-anywhere">
      {text}
    </p>
  ) : (
    <details className="group/description mt-0.5 low:hidden max-w-4xl text-[13px] text-muted-foreground">
      <summary className="w-fit cursor-pointer list-none hover:text-foreground">
        <span dir="auto" className="line-clamp-2 wrap-anywhere group-open/description:hidden sm:line-clamp-1">
          {text}
        </span>
        <span className="font-medium not-group-open/description:hidden">Show less</span>
      </summary>
      <div
        tabIndex={0}
        role="region"
        aria-label="Description"
        dir="auto"
        className="thin-scroll max-h-48 overflow-y-auto whitespace-pre-wrap wrap-anywhere"
      >
        {text}
      </div>
    </details>
  )
