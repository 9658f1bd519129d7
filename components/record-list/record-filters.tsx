import { hrefWith } from '../parts/href.ts'
import { Tabs } from '../parts/tabs.tsx'
import { SearchBox } from '../search/search-box.tsx'
import { Button } from '../ui/button.tsx'
import { Select, type Option } from '../ui/select.tsx'
import type { Filters, RecordsView } from './record-view.ts'

const TYPES = [
  ['', 'All'],
  ['decision', 'Decisions'],
  ['action', 'Action items'],
] as const

const STATUSES: Record<string, Option[]> = {
  decision: [
    { value: 'in_force', text: 'In force' },
    { value: 'withdrawn', text: 'Withdrawn' },
  ],
  action: [
    { value: 'open', text: 'Open' },
    { value: 'done', text: 'Done' },
    { value: 'dropped', text: 'Dropped' },
  ],
}
const statusesOf = (type: string) => STATUSES[type] ?? Object.values(STATUSES).flat()

/** Decisions, action items or both: links, of which the address says which is chosen. `at`: the page of the list. */
export const TypeLinks = ({ at, filters }: { at: string; filters: Filters }) => (
  <Tabs
    label="Type"
    tabs={TYPES.map(([type, label]) => {
      const status = statusesOf(type).some(({ value }) => value === filters.status) ? filters.status : ''
      return { label, href: hrefWith(at, { ...filters, type, status }), current: type === filters.type }
    })}
  />
)

/** Search and selects, as a form. */
export const RecordFilters = ({ at, view: { filters, owners, meetings } }: { at: string; view: RecordsView }) => (
  <form method="get" action={at} role="search" aria-label="Records" className="grid gap-2">
    <div className="relative flex gap-2">
      <SearchBox defaultValue={filters.q} maxLength={200} aria-label="Search records" placeholder="Words of a decision or an action item" />
      <Button type="submit" variant="outline" className="max-sm:h-9">
        Show
      </Button>
    </div>
    {filters.type && <input type="hidden" name="type" value={filters.type} />}
    {filters.series && <input type="hidden" name="series" value={filters.series} />}
    <div className="flex flex-wrap items-center gap-2">
      <TypeLinks at={at} filters={filters} />
      <Choice name="status" label="Status" all="Any status" chosen={filters.status} options={statusesOf(filters.type)} />
      <Choice
        name="owner"
        label="Whose"
        all="Anybody’s"
        chosen={filters.owner}
        options={owners.map(({ id, name }) => ({ value: id, text: name }))}
      />
      <Choice
        name="meeting"
        label="Session"
        all="Any session"
        chosen={filters.meeting}
        options={meetings.map(({ id, title }) => ({ value: id, text: title }))}
      />
    </div>
  </form>
)

interface ChoiceProps {
  name: keyof Filters
  label: string
  all: string
  chosen: string
  options: Option[]
}

const Choice = ({ name, label, all, chosen, options }: ChoiceProps) => (
  <div className="record-choice">
    <Select name={name} aria-label={label} defaultValue={chosen} options={[{ value: '', text: all }, ...options]} />
  </div>
)
