// Proposals as agents make them, by the operations themselves: for pictures, and for tests of pages.
type Post = (path: string, body: unknown, team?: string) => Promise<Record<string, any>>

interface Said {
  type?: 'action' | 'decision'
  title: string
  [field: string]: unknown
}

/** A session with two teams, of which Alex's convenes and proposes. */
export const proposalRoom = async (post: Post, title = 'Choose the parser for release 4') => {
  const alex = await post('/sessions', { title, description: '', creator_team_name: "Alex's Team" })
  const id = alex.session_id as string
  const bea = await post(`/sessions/${id}/join`, { team_name: "Bea's Team" })
  const say = (text: string): Promise<Record<string, any>> => post(`/sessions/${id}/messages`, { content: { text } }, bea.team_id)
  const propose = async ({ type = 'action', ...said }: Said, team = alex.team_id): Promise<string> => {
    const tool = type === 'action' ? 'propose_action_item' : 'propose_decision'
    return (await post(`/records/${tool}`, said, team as string)).id as string
  }
  return { id, path: `/sessions/${id}`, alex: alex.team_id as string, bea: bea.team_id as string, say, propose }
}

const GUIDE = `The callers outside this repository need to know three things:

1. \`parse()\` keeps its signature until 5.0.
2. Comments are **kept as trivia** on the following token.
3. \`parseTree()\` never throws; it reports errors by span.

Take the outline from the document, and the examples from \`fixtures/callers\`.`

/** What people find in the morning: two sessions, with most of what a card can have. `reject`: as a signed-in person. */
export const fillProposals = async (post: Post, reject: (id: string, feedback: string) => Promise<unknown>) => {
  const parser = await proposalRoom(post)
  const { message_id } = await parser.say('744 MB for the generated one: it keeps every alternative until the end of a statement.')
  const first = await parser.propose({
    type: 'decision',
    title: 'The parser is written by hand',
    description: 'No generator. Its errors cannot be explained to the editors, and it needs 2.4 × the memory on the corpus.',
    rationale: 'Ten runs each, medians: **9.6 s and 298 MB** by hand, 11.8 s and 744 MB generated.',
    source_quote: '744 MB for the generated one',
    source_event_id: message_id,
  })
  const guide = await parser.propose({
    title: 'Write the migration guide',
    description: GUIDE,
    owner_name: "Bea's Team",
    due_date: '2027-01-15T09:00:00Z',
    priority: 'high',
    source_quote: 'two plugins outside this repository call it',
  })
  const vague = await parser.propose({
    title: 'Measure again',
    description: 'Run the corpus on both parsers, and compare the time.\nThen write it down.',
  })
  await reject(vague, 'On which machine, and how often? One run says nothing.')
  const again = await parser.propose({
    title: 'Measure both parsers again on the build machine',
    description: 'Run the corpus ten times on both parsers, and compare medians of time and memory.\nThen write it down.',
    priority: 'low',
    replaces: vague,
  })
  const docs = await proposalRoom(post, 'What the editors need from the token stream')
  const spans = await docs.propose({ title: 'Give each token its byte span', priority: 'low' })
  const trivia = await docs.propose({ title: 'Keep comments as trivia on the following token', owner_name: 'Robin' })
  const reader = await docs.propose({ title: 'Read each file once in the formatter', description: 'It reads each file twice today.' })
  return { parser, docs, first, guide, again, spans, trivia, reader }
}
