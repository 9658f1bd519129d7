import type { ServerLink } from '../../src/core/server-link.ts'
import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { AgentLine, StartRunner } from '../agents/agent-line.tsx'
import { Family, FamilyMark } from '../agents/family.tsx'
import { cn } from '../parts/cn.ts'
import { Conclusion, DocumentPane } from '../document/document-pane.tsx'
import type { ComposerProps } from './composer.tsx'
import { FeedPane } from './feed-pane.tsx'
import { Teams } from './roster.tsx'
import { SessionActions } from './session-actions.tsx'
import { SideMark, SidePanel, type SideView } from './side-panel.tsx'
import { SideTabs, PaneTabs } from './side-tabs.tsx'
import type { SessionState, SessionView } from './session-view.ts'
import { Shell, TO_CONTENT, type Frame, type Skip } from '../site/shell.tsx'
import { Badge } from '../ui/badge.tsx'

interface Props {
  frame: Frame
  session: SessionView
  link: ServerLink
  /** What stands beside the feed instead of the document. */
  side?: SideView | undefined
  /** The reader's next message. */
  composer: Pick<ComposerProps, 'idempotencyKey' | 'answers'>
}

export const SessionPage = ({ frame, session, link, side, composer }: Props) => (
  <Shell
    frame={frame}
    title={`${side ? `${SIDE_TITLES[side.name]} of ` : ''}${session.title} · Parley`}
    crumbs={[{ label: 'Sessions', href: '/' }, { label: session.id.slice(0, 8) }]}
    full="everywhere"
    skips={skipsOf(side !== undefined, frame.person?.role === 'person')}
    paintsWith={session.feed.streamed ? undefined : 'live'}
    kind={session.agent && 'agents'}
  >
    <main id="main" className="flex min-h-0 flex-1 flex-col">
      {side && <SideFiles />}
      {session.feed.sought !== undefined && <script src="/public/gap.js" defer />}
      <Head session={session} person={frame.person} />
      <Conclusion id={session.id} document={session.document} />
      <PaneTabs session={session.id} side={side?.name ?? 'document'} counts={session.counts} version={session.document.version} />
      <div className="panes flex min-h-0 flex-1 max-lg:min-h-72 low:min-h-72">
        <FeedPane session={session} link={link} composer={{ ...composer, sessionId: session.id, person: frame.person }} />
        <div id="side" className="flex min-h-0 min-w-0 flex-col lg:w-[44%] lg:shrink-0 not-on-document:max-lg:invisible">
          {side ? (
            <SidePanel session={session.id} side={side} counts={session.counts} />
          ) : (
            <DocumentPane
              document={session.document}
              written={session.written}
              history={`/sessions/${session.id}/history`}
              guest={frame.person?.role === 'guest'}
              tabs={<SideTabs session={session.id} side="document" counts={session.counts} />}
            />
          )}
        </div>
      </div>
      <SideMark counts={session.counts} {...session.marks} />
      <div id="live" data-session={session.id} data-cursor={session.cursor} data-doc={session.written.version} hidden />
    </main>
  </Shell>
)

// Where one pane shows, "the content" is that pane: a link to #main would untarget the document, and so show the feed.
const SKIPS: Skip[] = [
  { ...TO_CONTENT, when: 'on-document:max-lg:hidden' },
  { ...TO_CONTENT, href: '#document', when: 'lg:hidden not-on-document:hidden' },
  { label: 'Skip to the document', href: '#document', when: 'on-document:max-lg:hidden' },
]
// A page that begins with the document loads these when they are needed, by the same names (public/live/aside.js).
const SideFiles = () => (
  <>
    <link rel="stylesheet" href="/public/board.css" />
    <script src="/public/sides.js" defer />
  </>
)

const SIDE_SKIPS: Skip[] = [
  { ...TO_CONTENT, href: '#panel', when: 'lg:hidden' },
  { ...TO_CONTENT, when: 'max-lg:hidden' },
]
const SIDE_TITLES = { board: 'Board', records: 'Records' }
const TO_COMPOSER: Skip = { label: 'Skip to the composer', href: '#message', when: 'concluded:hidden' }

const skipsOf = (aside: boolean, person: boolean): Skip[] => {
  const skips = aside ? SIDE_SKIPS : SKIPS
  return person ? [...skips, aside ? { ...TO_COMPOSER, when: `${TO_COMPOSER.when} max-lg:hidden` } : TO_COMPOSER] : skips
}

const Head = ({ session, person }: { session: SessionView; person: Frame['person'] }) => (
  <section className="shrink-0 border-b px-4 pt-3 pb-2.5 lying:py-1" aria-label="Session">
    <div className="flex items-start gap-4">
      <SessionHead session={session} />
      <SessionActions sessionId={session.id} person={person} agent={session.agent !== undefined} />
    </div>
    {session.agent && (
      <>
        <AgentLine agent={session.agent.view} />
        {person?.role !== 'guest' && (
          <>
            <StartRunner command={session.agent.runnerCommand} />
            <Family family={session.agent.family} here={session.id} />
            <FamilyMark mark={session.agent.familyMark} />
          </>
        )}
      </>
    )}
    <Teams {...session} />
  </section>
)

/** Title, status and description, and of which version of the document the conclusion is. `renamed`: the title flashes, because it has just
 *  changed. */
export const SessionHead = ({ session, renamed = false }: { session: SessionState; renamed?: boolean }) => (
  <div
    id="session-head"
    data-concluded={session.concluded || session.archived || undefined}
    data-archived={session.archived || undefined}
    data-version={session.concluded ? session.written.version : undefined}
    className="min-w-0 flex-1"
  >
    <div className="flex items-start gap-2.5">
      <h1
        dir="auto"
        className={cn(
          'min-w-0 text-[16px] leading-5.5 font-semibold tracking-[-0.015em] wrap-anywhere max-sm:line-clamp-3 sm:text-[17px] sm:leading-6',
          renamed && 'flash',
        )}
      >
        {escapeInvisible(session.title)}
      </h1>
      <StateBadge {...session} />
      {session.loop ? (
        <NeedsPerson href="#loop" title="The teams keep repeating themselves" />
      ) : (
        session.wakes?.since && <NeedsPerson href="#wakes" title="Messages wake its sleeping teams no more" />
      )}
    </div>
    {session.description && <Description text={escapeInvisible(session.description)} />}
  </div>
)

const StateBadge = ({ archived, concluded, quietFor }: SessionState) => (
  <Badge variant={archived ? 'outline' : concluded ? 'concluded' : quietFor ? 'warn' : 'live'} className="mt-0.5">
    <span
      className={cn(
        'dot size-1.5 rounded-full',
        archived ? 'bg-muted-foreground' : concluded ? 'bg-violet' : quietFor ? 'bg-warn' : 'bg-ok',
      )}
    />
    {archived ? 'Archived' : concluded ? 'Concluded' : quietFor ? 'Idle' : 'Live'}
  </Badge>
)

const NeedsPerson = (link: { href: string; title: string }) => (
  <a className="mt-0.5 flex" {...link}>
    <Badge variant="warn">Needs a person</Badge>
  </a>
)

const ONE_LINE = 140

// A long description is folded to a line: it may have 10,000 characters, and people come for the feed.
const Description = ({ text }: { text: string }) =>
  text.length <= ONE_LINE && !text.includes('\n') ? (
    <p dir="auto" className="mt-0.5 w-fit text-[13px] lying:hidden text-muted-foreground wrap-anywhere">
      {text}
    </p>
  ) : (
    <details className="group/description mt-0.5 lying:hidden max-w-4xl text-[13px] text-muted-foreground">
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
