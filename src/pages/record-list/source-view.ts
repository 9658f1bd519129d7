// The message that a proposal or a record rests on, as its card and its row show it.
import type { RecordView } from '../../../components/record-list/record-view.ts'
import type { Source } from '../../../db/records-schema.ts'

export const sourceView = (source: Source | null): RecordView['source'] =>
  source ? { quote: source.quote ?? undefined, sequence: source.sequence ?? undefined, found: source.found } : undefined
