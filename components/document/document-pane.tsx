import type { ReactNode } from 'react'
import { withAnchors } from '../../src/markdown/anchors.ts'
import { renderMarkdown } from '../../src/markdown/render.ts'
import { Icon } from '../parts/icon.tsx'
import { Markdown } from '../parts/markdown.tsx'
import type { SharedDocument, Written as WrittenView } from '../session/session-view.ts'
import { TeamName } from '../parts/team.tsx'
import { TextLink } from '../parts/text-link.tsx'
import { moment } from '../parts/time.ts'
import { Button } from '../ui/button.tsx'
import { Empty } from '../ui/empty.tsx'

interface Props {
  document: SharedDocument
  written: WrittenView
  /** The page of the document's versions. */
  history: string
  /** The reader is a guest, to whom the versions are closed. */
  guest: boolean
  /** Links to what else can stand here. */
  tabs: ReactNode
}

export const DocumentPane = ({ document, written, history, guest, tabs }: Props) => (
  <section id="document" aria-label="Document" className="flex min-h-0 min-w-0 flex-1 flex-col">
    <div className="flex h-10 shrink-0 items-center gap-3 border-b px-4 sm:px-6">
      {tabs}
      <h2 className="sr-only">Document</h2>
      {!guest && (
        <a href={history} className="text-[13px] text-muted-foreground hover:text-foreground lg:ml-1.5 lg:pb-0.5">
          History
        </a>
      )}
      <Written written={written} history={guest ? undefined : history} />
      {!guest && (
        <Button
          variant="ghost"
          size="icon"
          hidden
          data-copy={history}
          aria-label="Copy the document"
          title="Copy the document"
          className="in-[#document:not(:has(article))]:hidden" // there is nothing to copy yet
        >
          <Icon name="copy" />
        </Button>
      )}
    </div>
    <div tabIndex={0} role="region" aria-label="The shared document" className="thin-scroll min-h-0 flex-1 overflow-y-auto">
      <DocumentText document={document} />
    </div>
  </section>
)

/** The text alone: an open page replaces it when there is a newer version. */
export const DocumentText = ({ document: { content, version } }: { document: SharedDocument }) => (
  <div id="doc" data-version={version}>
    {content.trim() === '' ? (
      <Empty icon={<Icon name="document" />} title="The document is empty">
        Agents fill it with goals, decisions
        <br />
        and notes as they work.
      </Empty>
    ) : (
      <article
        className="prose prose-sm md-doc px-4 py-5 sm:px-6"
        dangerouslySetInnerHTML={{ __html: withAnchors(renderMarkdown(content)) }}
      />
    )}
  </div>
)

const VERSION = 'rounded bg-secondary px-1.5 py-0.5 font-mono text-[11px] font-medium text-secondary-foreground tabular-nums'

/** The newest version, who wrote it, and a link to what it changed; without `history` there is no link. */
export const Written = ({ written: { version, by, at, age }, history }: { written: WrittenView; history: string | undefined }) => (
  <p id="written" data-version={version} className="ml-auto flex min-w-0 items-center gap-1.5 text-[12px] text-muted-foreground">
    {history === undefined ? (
      <span className={VERSION}>v{version}</span>
    ) : (
      <a
        href={version > 0 ? `${history}?from=${version - 1}&to=${version}` : history}
        title="What this version changed"
        className={`${VERSION} hover:underline in-data-guest:pointer-events-none`}
      >
        v{version}
      </a>
    )}
    {by && at && (
      <span className="flex min-w-0" title={moment(at)}>
        <span className="min-w-0 truncate">
          <TeamName team={by} />
        </span>
        <span className="shrink-0 whitespace-pre tabular-nums"> · {age}</span>
      </span>
    )}
  </p>
)

const LONG = 600 // characters: about as many as a quarter of a window shows

/** The document's conclusion at the head of the page, once the session is concluded. */
export const Conclusion = ({ id, document: { conclusion } }: { id: string; document: SharedDocument }) =>
  conclusion === undefined ? (
    <section id="conclusion" hidden />
  ) : (
    <section id="conclusion" aria-label="Conclusion" className="shrink-0 border-b bg-violet/6 px-4 py-2.5 live:hidden">
      <details open>
        <summary className="flex w-fit cursor-pointer list-none items-center gap-1.5 text-[12.5px] font-medium text-violet-foreground">
          <Icon name="flag" className="size-3.5" />
          Conclusion
          <Icon name="chevron" className="size-3 transition-transform in-open:rotate-90" />
        </summary>
        <Markdown
          text={conclusion}
          tabIndex={0}
          role="region"
          aria-label="The conclusion"
          className="thin-scroll fades mt-1.5 max-h-[30dvh] max-w-4xl overflow-y-auto"
        />
        {conclusion.length > LONG && (
          <TextLink href={`/sessions/${id}#doc-conclusion`} className="mt-1 inline-block text-[12.5px] font-medium text-violet-foreground">
            Read all in the document
          </TextLink>
        )}
      </details>
    </section>
  )
