// The one way in which an operation writes a session's document. It moves the topic from which held waits learn the new version.
import { docTopic } from '../../log/doc-versions.ts'
import { authorOf } from '../../operations/callers.ts'
import type { Context } from '../../operations/context.ts'
import { writeDocument } from '../../stores/documents.ts'

/** Writes a new version. The caller's operation locks the session, and has compared versions. */
export const writeDoc = async (context: Context, sessionId: string, content: string): Promise<{ version: number; at: string }> => {
  const written = await writeDocument(context.queries, sessionId, content, authorOf(context.caller))
  context.moved(docTopic(sessionId), written.version)
  return written
}
