import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { Badge } from '../ui/badge.tsx'
import type { PersonView } from './record-view.ts'
import { Timeline } from './series-line.tsx'

const KINDS = { team: 'team', person: 'person', key: 'key' }

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
      {open === 0 ? 'No open action item' : open === 1 ? '1 open action item' : `${open} open action items`}
      {open > 0 && ', first in this list'}
      {meetings.length > 0 && `. Was in ${meetings.length === 1 ? 'one session' : `${meetings.length} sessions`} lately:`}
    </p>
    {meetings.length > 0 && <Timeline meetings={meetings} />}
  </section>
)
