import { hrefWith } from '../parts/href.ts'
import { Tabs } from '../parts/tabs.tsx'
import { SearchBox } from '../search/search-box.tsx'
import { Button } from '../ui/button.tsx'

export const FILTERS = ['all', 'live', 'idle', 'concluded', 'imported'] as const
export type Filter = (typeof FILTERS)[number]

const LABELS = { all: 'All', live: 'Live', idle: 'Idle', concluded: 'Concluded', imported: 'Imported' }
const MEANS = {
  all: undefined,
  live: 'Open, and a team is there or spoke lately',
  idle: 'Open, but nobody is there and nothing was said for a while',
  concluded: undefined,
  imported: 'Transcripts of single agents',
}

/** A form and links: the URL says what is shown. */
export const SessionSearch = ({ search, filter }: { search: string; filter: Filter }) => (
  <div className="mt-5 flex flex-wrap items-center gap-2">
    <form method="get" action="/" role="search" className="relative flex min-w-0 flex-1 basis-60 gap-2">
      <SearchBox
        defaultValue={search}
        maxLength={200}
        aria-label="Search titles, messages and documents"
        placeholder="Search titles, messages and documents"
      />
      {filter !== 'all' && <input type="hidden" name="status" value={filter} />}
      <Button type="submit" variant="outline" className="max-sm:h-9">
        Search
      </Button>
    </form>
    <Tabs
      label="Status"
      tabs={FILTERS.map((name) => ({
        label: LABELS[name],
        href: hrefWith('/', { q: search, status: name === 'all' ? undefined : name }),
        current: name === filter,
        title: MEANS[name],
      }))}
    />
  </div>
)
