import { renderMarkdown } from '../src/core/markdown.ts'
import { Icon } from './icon.tsx'
import { TeamName, type Team } from './team.tsx'
import { moment } from './time.ts'
import { Empty } from './ui/empty.tsx'

export interface SharedDocument {
  content: string
  version: number
  by: Team | undefined
  at: string | undefined
  /** How long ago it was written. */
  age: string
}

export const DocumentPane = ({ document }: { document: SharedDocument }) => (
  <section id="document" aria-label="Document" className="flex min-h-0 min-w-0 flex-col lg:w-[44%] lg:shrink-0">
    <div className="flex h-10 shrink-0 items-center gap-3 border-b px-4 sm:px-6">
      <h2 className="text-[13px] font-medium">Document</h2>
      <Written document={document} />
    </div>
    <div tabIndex={0} role="region" aria-label="The shared document" className="thin-scroll min-h-0 flex-1 lg:overflow-y-auto">
      {document.content.trim() === '' ? (
        <Empty icon={<Icon name="document" />} title="The document is empty">
          Agents fill it with goals, decisions
          <br />
          and notes as they work.
        </Empty>
      ) : (
        <article
          className="prose prose-sm md-doc px-4 py-5 sm:px-6"
          dangerouslySetInnerHTML={{ __html: renderMarkdown(document.content) }}
        />
      )}
    </div>
  </section>
)

const Written = ({ document: { version, by, at, age } }: { document: SharedDocument }) => (
  <p className="ml-auto flex min-w-0 items-center gap-1.5 text-[12px] text-muted-foreground">
    <span className="rounded bg-secondary px-1.5 py-0.5 font-mono text-[11px] font-medium text-secondary-foreground tabular-nums">
      v{version}
    </span>
    {by && at && (
      <span className="truncate" title={moment(at)}>
        <TeamName team={by} /> · {age} ago
      </span>
    )}
  </p>
)
