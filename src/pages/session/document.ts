import type { Queries } from '../../../db/database.ts'
import type { SharedDocument } from '../../../components/session/session-view.ts'
import { prepareMarkdown } from '../../markdown/render.ts'
import { conclusionOf } from '../../rooms/document/conclusion.ts'
import { readDocument } from '../../stores/documents.ts'

/** A session's document as its page shows it: the text with its conclusion apart, both rendered ahead. */
export const documentOf = async (queries: Queries, sessionId: string): Promise<SharedDocument> => {
  const document = await readDocument(queries, sessionId)
  const conclusion = conclusionOf(document.content)
  await Promise.all([prepareMarkdown(document.content), prepareMarkdown(conclusion ?? '')])
  return { ...document, conclusion }
}
