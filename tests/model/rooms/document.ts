// The document: read, replaced, appended to.
import fc from 'fast-check'
import { pick, refuses, type Command, upTo } from '../command.ts'
import { contentOf, versionOf, writeDoc, type Room } from '../state.ts'

const TEXTS = ['# Findings\n', '- one', '', '## Part\n\nText.\n', 'a\r\nb']

/** The answer of read_session_doc. What is not known yet is not told. */
export const docAnswer = (room: Room, version = versionOf(room)) => {
  const content = version === 0 ? '' : room.versions[version - 1]!.content
  return { version, ...(content !== undefined && { content }) }
}

const readDoc: Command = {
  op: 'read_session_doc',
  draws: { version: upTo(12) },
  input: (room, { version }) => ({
    ...(version < 6 && { version: version === 5 ? versionOf(room) + 1 : version % (versionOf(room) + 1) }),
  }),
  judge: ({ room, input: { version } }) => (version > versionOf(room) ? refuses('not_found') : { answers: docAnswer(room, version) }),
}

const updateDoc: Command = {
  op: 'update_session_doc',
  draws: { text: upTo(4), off: upTo(5) },
  input: (room, { text, off }) => ({ content: pick(TEXTS, text), expected_version: Math.max(0, versionOf(room) + (off === 4 ? 1 : off === 5 ? -1 : 0)) }), // prettier-ignore
  judge({ room, speaker, input: { content, expected_version } }) {
    if (room.closed) return refuses('session_closed')
    if (expected_version !== versionOf(room)) return refuses('version_conflict', { current_version: versionOf(room) })
    return { answers: { version: versionOf(room) + 1 }, after: () => writeDoc(room, content, speaker) }
  },
}

// On a new line at the end; before the conclusion of a document that ends with it.
const appended = (doc: string, text: string): string => {
  const lines = doc.split('\n')
  const from = lines.indexOf('## Conclusion')
  if (from < 0 || lines.slice(from + 1).some((line) => /^##? /.test(line)))
    return doc === '' || doc.endsWith('\n') ? doc + text : `${doc}\n${text}`
  const before = `${lines.slice(0, from).join('\n')}`.trimEnd()
  return `${`${before}${before && '\n'}${text}`.trimEnd()}\n\n${lines.slice(from).join('\n')}`
}

const append: Command = {
  op: 'append_to_session_doc',
  draws: { text: upTo(4) },
  weight: 3,
  input: (_, { text }) => ({ text: pick(TEXTS, text) }),
  misshapen: ({ text }) => text === '',
  judge({ room, speaker, input: { text } }) {
    if (room.closed) return refuses('session_closed')
    return {
      answers: { version: versionOf(room) + 1 },
      after() {
        const before = contentOf(room)
        if (before === undefined) writeDoc(room, undefined, speaker)
        else writeDoc(room, appended(before, text), speaker)
      },
    }
  },
}

/** The answer of get_doc_history. */
export const docVersions = (room: Room, before = Infinity, limit = 100) => {
  const all = room.versions.map(({ by, name, content }, i) => ({
    version: i + 1,
    written_by_team_id: by,
    team: name,
    ...(content !== undefined && { bytes: Buffer.byteLength(content) }),
  }))
  const older = all.toReversed().filter(({ version }) => version < before)
  const versions = older.slice(0, limit)
  return { versions, has_more: older.length > limit, next_cursor: older.length > limit ? versions.at(-1)!.version : null }
}

const getDocHistory: Command = {
  op: 'get_doc_history',
  draws: { before: upTo(8), limit: fc.integer({ min: 1, max: 4 }) },
  input: (_, { before, limit }) => ({ ...(before < 5 && { before_version: before }), limit }),
  judge: ({ room, input: { before_version, limit } }) => ({ answers: docVersions(room, before_version, limit) }),
}

export const document = [readDoc, updateDoc, append, getDocHistory]
