import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { Badge } from '../ui/badge.tsx'
import type { PersonView } from './record-view.ts'
import { Timeline } from './series-line.tsx'

const KINDS = { team: 'team', person: 'person', key: 'key' }

const openIn = (count: string) =>
  count === '0' ? 'No open action item' : `${count === '1' ? '1 open action item' : `${count} open action items`}, first in this list`

const wasIn = (count: number) => `Was in ${count === 1 ? 'one session' : `${count} sessions`} lately:`

/** Whose records these are. */
export const PersonHead = ({ person: { name, kind, verified, open, meetings } }: { person: PersonView }) => (
  <section aria-label="Whose records" className="rounded-lg border bg-card px-4 py-3 shadow-xs">
    <p className="flex flex-wrap items-center gap-2">
      <b dir="auto" className="min-w-0 text-sm font-semibold wrap-anywhere">
        {escapeInvisible(name)}
      </b>
      <Badge variant="outline">{KINDS[kind]}</Badge>
      {!verified && (
        <Badge variant="warn" title="Anybody could have given this name">
          unverified
        </Badge>
      )}
    </p>
    <p className="mt-0.5 text-[12.5px] text-muted-foreground">
      {[open && openIn(open), meetings.length > 0 && wasIn(meetings.length)].filter(Boolean).join('. ')}
    </p>
    {meetings.length > 0 && <Timeline meetings={meetings} />}
  </section>
)
