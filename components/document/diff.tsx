import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { counted } from '../../src/core/text/numbers.ts'
import type { DiffRow, DiffSide } from './diff-rows.ts'

export const DIFF_VIEWS = ['unified', 'split'] as const
export type DiffView = (typeof DIFF_VIEWS)[number]

const LONGEST = 1_500 // characters of a line that are shown

/** The difference of two texts, unified or side by side. */
export const DiffTable = ({ html, view }: { html: string; view: DiffView }) => (
  <table className="w-full table-fixed border-collapse font-mono text-[12px] leading-5">
    <caption className="sr-only">The changes, line by line</caption>
    <colgroup>
      <col className="w-10 sm:w-12" />
      {view === 'split' && <col />}
      <col className="w-10 sm:w-12" />
      <col />
    </colgroup>
    <tbody dangerouslySetInnerHTML={{ __html: html }} />
  </table>
)

/** The table's rows; pages/session/doc-history.tsx renders them in slices. */
export const DiffRows = ({ rows, view }: { rows: DiffRow[]; view: DiffView }) =>
  rows.map((row, i) =>
    row.kind === 'fold' ? (
      <tr key={i} className="bg-muted/60 text-muted-foreground">
        <td colSpan={view === 'split' ? 4 : 3} className="px-3 py-1 font-sans text-[12px]">
          {counted(row.lines, 'unchanged line')}
        </td>
      </tr>
    ) : (
      <tr key={i}>{view === 'split' ? <Split row={row} /> : <Unified row={row} />}</tr>
    ),
  )

type LineChange = 'added' | 'removed' | undefined
const TINT = { added: 'bg-ok/10', removed: 'bg-destructive/8', absent: 'bg-muted/40' }
const MARK = { added: '+', removed: '−' }

type RowProps = { row: Exclude<DiffRow, { kind: 'fold' }> }

const Split = ({ row: { before, after, kind } }: RowProps) => {
  const changed = kind === 'changed'
  return (
    <>
      <LineNumber line={before?.line} tint={before ? changed && 'removed' : 'absent'} />
      <Line side={before} changed={before && changed ? 'removed' : undefined} />
      <LineNumber line={after?.line} tint={after ? changed && 'added' : 'absent'} />
      <Line side={after} changed={after && changed ? 'added' : undefined} />
    </>
  )
}

const Unified = ({ row: { before, after, kind } }: RowProps) => {
  const changed: LineChange = kind === 'same' ? undefined : before ? 'removed' : 'added'
  return (
    <>
      <LineNumber line={before?.line} tint={changed} />
      <LineNumber line={after?.line} tint={changed} />
      <Line side={before ?? after} changed={changed} />
    </>
  )
}

// There are thousands of cells: tailwind-merge would take too long.
const LineNumber = ({ line, tint }: { line: number | undefined; tint: keyof typeof TINT | false | undefined }) => (
  <td className={`px-1.5 text-right align-top text-[11px] text-muted-foreground tabular-nums select-none ${tint ? TINT[tint] : ''}`}>
    {line}
  </td>
)

const Line = ({ side, changed }: { side: DiffSide | undefined; changed: LineChange }) => (
  <td className={`relative pr-3 pl-5 align-top whitespace-pre-wrap wrap-anywhere ${changed ? TINT[changed] : side ? '' : TINT.absent}`}>
    {changed && (
      <span className="absolute left-1.5 text-muted-foreground" aria-label={changed}>
        {MARK[changed]}
      </span>
    )}
    {side?.words ? (
      side.words.map((word, i) =>
        word.changed ? (
          <mark key={i} className={changed === 'added' ? 'rounded-xs bg-ok/30 text-inherit' : 'rounded-xs bg-destructive/25 text-inherit'}>
            {visible(word.text)}
          </mark>
        ) : (
          visible(word.text)
        ),
      )
    ) : (
      <>
        {visible(side?.text.slice(0, LONGEST) ?? '')}
        {side && side.text.length > LONGEST && (
          <span className="text-muted-foreground"> … {(side.text.length - LONGEST).toLocaleString('en')} more characters</span>
        )}
      </>
    )}
  </td>
)

// A carriage return makes a difference that would not be seen.
const visible = (text: string) => escapeInvisible(text).replaceAll('\r', '␍')
