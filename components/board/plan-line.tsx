import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { TextLink } from '../parts/text-link.tsx'
import { itemAnchor, type Plan } from './board-view.ts'

const NAMED = 2

/** How far the plan has come, and what nobody has taken for a while. */
export const PlanLine = ({ plan: { done, total, untaken } }: { plan: Plan }) => (
  <div className="min-w-0 flex-1">
    <p className="flex items-center gap-2.5 text-[12.5px]">
      <span className="shrink-0 font-medium tabular-nums">
        {done} of {total} done
      </span>
      <progress value={done} max={Math.max(total, 1)} aria-label="Done" className="plan" />
    </p>
    {untaken.length > 0 && (
      <p className="mt-1 text-[12px] text-warn-foreground wrap-anywhere">
        Free for 10 minutes and more:{' '}
        {untaken.slice(0, NAMED).map(({ id, title }, i) => (
          <span key={id}>
            {i > 0 && ', '}
            <TextLink href={`#${itemAnchor(id)}`} dir="auto" className="text-warn-foreground">
              {escapeInvisible(title)}
            </TextLink>
          </span>
        ))}
        {untaken.length > NAMED && ` and ${untaken.length - NAMED} more`}
      </p>
    )}
  </div>
)
