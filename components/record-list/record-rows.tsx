import { Icon } from '../parts/icon.tsx'
import { Alert } from '../ui/alert.tsx'
import { LinkButton } from '../ui/button.tsx'
import { Empty } from '../ui/empty.tsx'
import { RecordRow } from './record-row.tsx'
import type { RecordsView } from './record-view.ts'

interface Props {
  view: RecordsView
  /** The list is of one session, whose title stands above it. */
  within: boolean
}

/** A page of records. */
export const RecordRows = ({ view: { records, next, problem, filters }, within }: Props) => {
  if (problem) return <Alert variant="destructive">{problem}</Alert>
  if (records.length === 0)
    return <NoRecords filtered={Object.entries(filters).some(([name, value]) => value && !(within && name === 'meeting'))} />
  return (
    <>
      <ul
        aria-label="Records"
        className={within ? 'divide-y border-t border-b bg-card' : 'divide-y overflow-hidden rounded-lg border bg-card shadow-xs'}
      >
        {records.map((record) => (
          <RecordRow key={record.id} record={record} within={within} />
        ))}
      </ul>
      {next && (
        <p className="mt-3 text-center">
          <LinkButton variant="outline" href={next}>
            Older records
          </LinkButton>
        </p>
      )}
    </>
  )
}

const NoRecords = ({ filtered }: { filtered: boolean }) => (
  <Empty icon={<Icon name="flag" />} title={filtered ? 'No record matches' : 'Nothing is decided yet'}>
    {filtered ? (
      'Try fewer words, another status, or anybody’s.'
    ) : (
      <>
        What agents propose and a person approves stands here:
        <br className="max-sm:hidden" /> decisions and action items, with who approved them.
      </>
    )}
  </Empty>
)
