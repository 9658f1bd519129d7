import { Shell, type Frame } from '../site/shell.tsx'

interface Props {
  frame: Frame
  id: string
  sentence: string
}

/** The page of a purged session that others came from: there is nothing to read, and nothing to do. */
export const PurgedPage = ({ frame, id, sentence }: Props) => (
  <Shell frame={frame} title="A purged session · Parley" crumbs={[{ label: 'Sessions', href: '/' }, { label: id.slice(0, 8) }]}>
    <main id="main" className="mx-auto w-full max-w-md px-4 py-20 text-center">
      <h1 className="text-xl font-semibold tracking-[-0.02em]">(purged)</h1>
      <p className="mt-2 text-[13px] text-balance text-muted-foreground">{sentence}</p>
    </main>
  </Shell>
)
