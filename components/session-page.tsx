import { visible } from '../src/core/visible.ts'
import { cn } from './cn.ts'
import { Conclusion, DocumentPane } from './document-pane.tsx'
import { FeedPane } from './feed-pane.tsx'
import { Roster } from './roster.tsx'
import { SessionActions } from './session-actions.tsx'
import type { SessionState, SessionView } from './session-view.ts'
import { Shell, type Frame } from './shell.tsx'
import type { Link } from './snippets.ts'
import { Badge } from './ui/badge.tsx'

interface Props {
  frame: Frame
  session: SessionView
  link: Link
  /** For what the reader may say here. */
  idempotencyKey: string
}

export const SessionPage = ({ frame, session, link, idempotencyKey }: Props) => (
  <Shell
    frame={frame}
    title={`${session.title} · Parley`}
    crumbs={[{ label: 'Sessions', href: '/' }, { label: session.id.slice(0, 8) }]}
    full
    paintsWith={session.feed.streamed ? undefined : 'live'}
  >
    <main id="main" className="flex min-h-0 flex-1 flex-col">
      <Head session={session} person={frame.person} />
      <Conclusion document={session.document} />
      <nav aria-label="Parts" className="flex h-9 shrink-0 gap-4 border-b px-4 text-[13px] lg:hidden">
        <a href="#feed" className="flex items-center border-b-2 border-foreground font-medium">
          Feed
        </a>
        <a href="#document" className="flex items-center gap-1.5 text-muted-foreground">
          Document
        </a>
      </nav>
      <div className="panes flex min-h-0 flex-1 max-lg:flex-col">
        <FeedPane session={session} link={link} composer={{ sessionId: session.id, person: frame.person, idempotencyKey }} />
        <DocumentPane document={session.document} written={session.written} history={`/sessions/${session.id}/history`} />
      </div>
      <div id="live" data-session={session.id} data-cursor={session.cursor} data-doc={session.document.version} hidden />
    </main>
  </Shell>
)

const Head = ({ session, person }: { session: SessionView; person: Frame['person'] }) => (
  <section className="shrink-0 border-b px-4 pt-3 pb-2.5" aria-label="Session">
    <div className="flex items-start gap-4">
      <SessionHead session={session} />
      <SessionActions sessionId={session.id} person={person} />
    </div>
    <div className="mt-2">
      <Roster teams={session.teams} waitingFor={session.waitingFor} />
    </div>
  </section>
)

/** Title, state and description. `renamed`: the title has just changed, and shows it. */
export const SessionHead = ({ session, renamed = false }: { session: SessionState; renamed?: boolean }) => (
  <div id="session-head" data-concluded={session.concluded || undefined} className="min-w-0 flex-1">
    <div className="flex items-start gap-2.5">
      <h1
        className={cn(
          'min-w-0 text-[16px] leading-5.5 font-semibold tracking-[-0.015em] wrap-anywhere max-sm:line-clamp-3 sm:text-[17px] sm:leading-6',
          renamed && 'flash',
        )}
      >
        {visible(session.title)}
      </h1>
      <Badge variant={session.concluded ? 'concluded' : session.quietFor ? 'warn' : 'live'} className="mt-0.5">
        <span className={cn('size-1.5 rounded-full', session.concluded ? 'bg-violet' : session.quietFor ? 'bg-warn' : 'bg-ok')} />
        {session.concluded ? 'Concluded' : session.quietFor ? 'Idle' : 'Live'}
      </Badge>
      {session.needsPerson && (
        <a href={`/sessions/${session.id}/release`} className="mt-0.5 flex" title="The teams say the same again and again">
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
    <p className="mt-0.5 text-[13px] text-muted-foreground wrap-anywhere">{text}</p>
  ) : (
    <details className="group/description mt-0.5 text-[13px] text-muted-foreground">
      <summary className="line-clamp-2 max-w-4xl cursor-pointer wrap-anywhere group-open/description:hidden sm:line-clamp-1">
        {text}
      </summary>
      <p className="thin-scroll max-h-48 max-w-4xl overflow-y-auto whitespace-pre-wrap wrap-anywhere">{text}</p>
    </details>
  )
