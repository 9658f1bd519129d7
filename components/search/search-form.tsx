import type { ReactNode } from 'react'
import { SEARCHABLE, type EventType } from '../../src/core/events/event-types.ts'
import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { hrefWith } from '../parts/href.ts'
import { TextLink } from '../parts/text-link.tsx'
import { SearchBox } from './search-box.tsx'
import { Button } from '../ui/button.tsx'
import { Input } from '../ui/input.tsx'
import { Label } from '../ui/label.tsx'
import { Select } from '../ui/select.tsx'

/** A query and its filters, from the URL; a filter that the URL lacks is empty. */
export interface Search {
  query: string
  session: { id: string; title: string } | undefined
  /** An event type, `all` types, or `sessions` for titles and documents alone. */
  type: string
  /** The author's name. */
  by: string
  from: string
  to: string
  page: number
}

/** Event types in words: all of one type, and one event. */
export const TYPE_LABELS: Record<EventType, { plural: string; one: string }> = {
  user_input: { plural: 'What people asked', one: 'asked' },
  assistant_response: { plural: 'What agents said', one: 'said' },
  tool_response: { plural: 'Tool results', one: 'tool result' },
  tool_call: { plural: 'Tool calls', one: 'tool call' },
  reasoning: { plural: 'Reasoning', one: 'reasoning' },
  system: { plural: 'Boards, decisions, joins', one: 'event' },
  compaction: { plural: 'Compactions', one: 'compaction' },
  runtime: { plural: 'Runtime notes', one: 'runtime' },
  unknown: { plural: 'Other', one: 'other' },
}

/** `names`: authors to choose from. */
export const SearchForm = ({ search: { query, session, type, by, from, to }, names }: { search: Search; names: string[] }) => (
  <form method="get" action="/search" role="search" className="mt-4 grid gap-3">
    <div className="relative flex gap-2">
      <SearchBox
        defaultValue={query}
        autoFocus={query === ''}
        aria-label="Search for"
        placeholder="Words, a path, an identifier, an error code"
      />
      <Button type="submit" className="max-sm:h-9">
        Search
      </Button>
    </div>
    <div className="grid grid-cols-2 gap-2 sm:grid-cols-[minmax(0,1fr)_minmax(0,1fr)_9rem_9rem]">
      <Field id="type" label="Search in" className="max-sm:col-span-2">
        <Select id="type" name="type" defaultValue={type} options={TYPES} />
      </Field>
      <Field id="by" label="Said by" className="max-sm:col-span-2">
        <Input id="by" name="by" list="names" defaultValue={by} maxLength={200} placeholder="Any team or person" className="px-2" />
        <datalist id="names">
          {names.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </Field>
      <Field id="from" label="From (UTC)">
        <Input type="date" id="from" name="from" defaultValue={from} className="px-2" />
      </Field>
      <Field id="to" label="To (inclusive)">
        <Input type="date" id="to" name="to" defaultValue={to} className="px-2" />
      </Field>
    </div>
    {session && (
      <p className="flex min-w-0 items-center gap-2 text-[13px] text-muted-foreground">
        <input type="hidden" name="session" value={session.id} />
        <span className="min-w-0 truncate">
          Only in{' '}
          <a href={`/sessions/${session.id}`} className="font-medium text-foreground hover:underline">
            {escapeInvisible(session.title)}
          </a>
        </span>
        <TextLink href={searchHref({ query, type, by, from, to })} className="shrink-0">
          Search all sessions
        </TextLink>
      </p>
    )}
  </form>
)

const TYPES = [
  { value: '', text: 'Messages and documents' },
  { value: 'all', text: 'Everything' },
  { value: 'sessions', text: 'Titles and documents' },
  ...SEARCHABLE.map((kind) => ({ value: kind, text: TYPE_LABELS[kind].plural })),
]

const Field = ({ id, label, className, children }: { id: string; label: string; className?: string; children: ReactNode }) => (
  <div className={className}>
    <Label htmlFor={id} className="text-[12px] font-normal text-muted-foreground">
      {label}
    </Label>
    {children}
  </div>
)

type SearchParams = Partial<Omit<Search, 'session'>> & { session?: { id: string } | undefined }

/** The URL of a search. */
export const searchHref = ({ query, session, type, by, from, to, page = 1 }: SearchParams) =>
  hrefWith('/search', { q: query, session: session?.id, type, by, from, to, page: page > 1 ? page : undefined })
