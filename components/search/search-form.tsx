import type { ReactNode } from 'react'
import { SEARCHABLE, type Kind } from '../../src/core/event-types.ts'
import { visible } from '../../src/core/escape-invisible.ts'
import { SearchBox } from './search-box.tsx'
import { Button } from '../ui/button.tsx'
import { Input } from '../ui/input.tsx'
import { Label } from '../ui/label.tsx'
import { Select } from '../ui/select.tsx'

/** What is searched for, and where, as the URL says; empty where it says nothing. */
export interface Search {
  query: string
  session: { id: string; title: string } | undefined
  /** A kind of events, `all` of them, `sessions` for titles and documents alone. */
  type: string
  /** Who said it, by name. */
  by: string
  from: string
  to: string
  page: number
}

/** What the kinds of events are called, all of them and one. */
export const KINDS: Record<Kind, { plural: string; one: string }> = {
  user_input: { plural: 'What people asked', one: 'asked' },
  assistant_response: { plural: 'What agents said', one: 'said' },
  tool_response: { plural: 'Tool results', one: 'tool result' },
  tool_call: { plural: 'Tool calls', one: 'tool call' },
  reasoning: { plural: 'Reasoning', one: 'reasoning' },
  system: { plural: 'Joins, renames, conclusions', one: 'event' },
  compaction: { plural: 'Compactions', one: 'compaction' },
  runtime: { plural: 'Runtime notes', one: 'runtime' },
  unknown: { plural: 'Other', one: 'other' },
}

/** A form: the URL says what is searched for. `names`: authors to choose from. */
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
        <Select id="type" name="type" defaultValue={type}>
          <option value="">Messages and documents</option>
          <option value="all">Everything</option>
          <option value="sessions">Titles and documents</option>
          {SEARCHABLE.map((kind) => (
            <option key={kind} value={kind}>
              {KINDS[kind].plural}
            </option>
          ))}
        </Select>
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
            {visible(session.title)}
          </a>
        </span>
        <a href={hrefOf({ query, type, by, from, to })} className="shrink-0 text-foreground underline underline-offset-2">
          Search all sessions
        </a>
      </p>
    )}
  </form>
)

const Field = ({ id, label, className, children }: { id: string; label: string; className?: string; children: ReactNode }) => (
  <div className={className}>
    <Label htmlFor={id} className="text-[12px] font-normal text-muted-foreground">
      {label}
    </Label>
    {children}
  </div>
)

type Wished = Partial<Omit<Search, 'session'>> & { session?: { id: string } | undefined }

/** The URL of a search. */
export const hrefOf = ({ query, session, type, by, from, to, page = 1 }: Wished) => {
  const number = page > 1 ? String(page) : undefined
  const given = Object.entries({ q: query, session: session?.id, type, by, from, to, page: number }).filter(([, value]) => value)
  return `/search?${new URLSearchParams(given as [string, string][])}`
}
