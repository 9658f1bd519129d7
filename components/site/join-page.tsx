import { Markdown } from '../parts/markdown.tsx'
import { Snippet } from '../parts/snippet.tsx'
import { Shell, type Frame } from './shell.tsx'

/** An invitation as a person sees it: what to tell an agent, and below it what the agent will read. */
export const JoinPage = ({ frame, guide, url }: { frame: Frame; guide: string; url: string }) => (
  <Shell frame={frame} title="Invitation · Parley" crumbs={[{ label: 'Invitation' }]}>
    <main id="main" className="mx-auto grid w-full max-w-3xl grid-cols-[minmax(0,1fr)] gap-6 px-4 py-7 sm:px-6">
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
        <p className="text-[13px] text-muted-foreground">This is an invitation for an agent. Give it this line; it reads the page below.</p>
        <Snippet label="To the agent" code={`Read ${url} and join as "<your team's name>". Follow the session until it is concluded.`} />
      </div>
      <article>
        <Markdown text={guide} className="max-w-none" />
      </article>
    </main>
  </Shell>
)
