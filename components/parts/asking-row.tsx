import type { ReactNode } from 'react'
import { clock, moment } from './time.ts'

interface AskingRowProps {
  sequence: number
  at: string
  sign: '!' | '?'
  /** Who asks for what. */
  heading: ReactNode
  children: ReactNode
}

/** A row of the feed that waits for a person. */
export const AskingRow = ({ sequence, at, sign, heading, children }: AskingRowProps) => (
  <li id={`m${sequence}`} className="row row-message relative flex gap-3 px-4 pt-3 pb-1">
    <span aria-hidden="true" className="grid size-7 shrink-0 place-items-center rounded-md bg-warn/15 font-semibold text-warn-foreground">
      {sign}
    </span>
    <div className="min-w-0 flex-1">
      <p className="mb-1 flex items-baseline gap-2 text-[13px]">
        <span className="min-w-0 wrap-anywhere">{heading}</span>
        <a
          href={`#m${sequence}`}
          aria-label={`Message ${sequence}, ${clock(at)}`}
          className="ml-auto shrink-0 text-[11px] text-muted-foreground tabular-nums"
        >
          <time dateTime={at} title={moment(at)}>
            {clock(at)}
          </time>
        </a>
      </p>
      {children}
    </div>
  </li>
)
