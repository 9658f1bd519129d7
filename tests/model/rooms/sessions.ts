// Opening, reading, renaming, ending and reopening a session.
import fc from 'fast-check'
import { pick, refuses, type Command, upTo } from '../command.ts'
import { contentOf, endOf, tell, versionOf, writeDoc, type Room } from '../state.ts'
import { NAMES, newTeam, tellUntold } from './teams.ts'

const TITLES = ['Shipping the parser', 'The printer', 'مرحبا']
const DESCRIPTIONS = ['', 'Split the work.', 'Two\nlines']

const createSession: Command = {
  op: 'create_session',
  draws: { title: upTo(2), description: upTo(2), name: upTo(3), expected: fc.integer({ min: 1, max: 4 }), resume: upTo(3) },
  weight: 1,
  input: (_, { title, description, name, expected, resume }, { rooms }) => ({
    title: pick(TITLES, title),
    description: pick(DESCRIPTIONS, description),
    creator_team_name: pick(NAMES, name),
    ...(expected !== 2 && { expected_teams: expected }),
    ...(resume === 1 && rooms.length > 0 && { resume_from: rooms[0]!.id }),
  }),
  judge: ({ state, input: { title, description, creator_team_name: team_name, expected_teams: expected = 2, resume_from = null } }) => ({
    answers: { team_name, cursor: 0, title, description },
    after({ session_id: id, team_id: token, handle }) {
      const opened = resume_from ? [{ content: undefined, by: handle, name: team_name }] : []
      const team = newTeam({ handle, token, name: team_name }, 0)
      const common = { id, title, description, expected, resumedFrom: resume_from, closed: false, convener: handle, teams: [team] }
      state.rooms.push({ ...common, log: [], versions: opened, invitations: [], items: [], proposals: [], records: [], persons: {} })
    },
  }),
}

/** The answer of get_session. */
export const sessionAnswer = (room: Room) => {
  const convener = room.teams.find(({ handle }) => handle === room.convener)!
  return {
    session_id: room.id,
    title: room.title,
    description: room.description,
    status: room.closed ? 'closed' : 'active',
    session_doc_version: versionOf(room),
    last_sequence: endOf(room),
    expected_teams: room.expected,
    convener: { team_id: convener.handle, team_name: convener.name, left: convener.left },
    genealogy: { resumed_from_session_id: room.resumedFrom, parent_session_id: null },
  }
}

const getSession: Command = { op: 'get_session', judge: ({ room }) => ({ answers: sessionAnswer(room) }) }

const updateMetadata: Command = {
  op: 'update_session_metadata',
  draws: { title: upTo(3), description: upTo(3), blank: upTo(9) },
  input: (_, { title, description, blank }) => ({
    ...(title < 3 && { title: TITLES[title] }),
    ...(description < 3 && { description: DESCRIPTIONS[description] }),
    reason: blank === 0 ? '  ' : 'clearer',
  }),
  misshapen: ({ reason }) => reason.trim() === '',
  judge({ room, speaker, input: { title = room.title, description = room.description, reason } }) {
    if (room.closed) return refuses('session_closed')
    const next = { title, description }
    const fields = (['title', 'description'] as const).filter((field) => next[field] !== room[field])
    if (fields.length === 0) return refuses('invalid_request')
    return {
      answers: next,
      after() {
        const changes = Object.fromEntries(fields.map((field) => [field, { from: room[field], to: next[field] }]))
        tell(room, 'session_metadata_updated', speaker.whose, { by: speaker.name, changes, reason })
        Object.assign(room, next)
      },
    }
  },
}

const SUMMARIES = ['We ship.', '## Conclusion\n\nNot yet.', 'One.\n\nTwo.']

// From its heading to the next one of level 1 or 2; at the end of a document that has none.
const withConclusion = (doc: string | undefined, summary: string): string | undefined => {
  if (doc === undefined) return undefined
  const section = `## Conclusion\n\n${summary.replace('## Conclusion\n\n', '')}\n`
  const lines = doc.split('\n')
  const from = lines.indexOf('## Conclusion')
  if (from < 0) return doc.trim() === '' ? section : `${doc.trimEnd()}\n\n${section}`
  const next = lines.findIndex((line, i) => i > from && /^##? /.test(line))
  const before = lines.slice(0, from).map((line) => `${line}\n`)
  return [...before, section, ...(next < 0 ? [] : ['\n', lines.slice(next).join('\n')])].join('')
}

const concludeSession: Command = {
  op: 'conclude_session',
  draws: { summary: upTo(3) },
  weight: 1,
  input: (_, { summary }) => ({ summary_section: SUMMARIES[summary] ?? ' \n' }),
  misshapen: ({ summary_section }) => summary_section.trim() === '',
  judge: ({ room, speaker, input }) => ({
    answers: { session_id: room.id, status: 'closed', doc_version: versionOf(room) + 1 },
    after({ doc_version }) {
      writeDoc(room, withConclusion(contentOf(room), input.summary_section), speaker)
      tell(room, 'session_concluded', speaker.whose, { by: speaker.name, doc_version })
      room.closed = true
    },
  }),
}

const reopenSession: Command = {
  op: 'reopen_session',
  weight: 3,
  input: () => ({ reason: 'A bug came back.' }),
  judge({ room, self, speaker, input: { reason } }) {
    if (self && self.handle !== room.convener) return refuses('forbidden')
    if (!room.closed) return refuses('conflict')
    return {
      answers: { status: 'active' },
      after() {
        room.closed = false
        tell(room, 'session_reopened', speaker.whose, { by: speaker.name, reason })
        tellUntold(room)
      },
    }
  },
}

export const sessions = [createSession, getSession, updateMetadata, concludeSession, reopenSession]
