// Questions: whom they wait for, who has answered, and which were withdrawn.
import type { Queries } from '../../../db/database.ts'
import { nameKey } from '../../core/text/text.ts'
import type { Participant } from '../../stores/members.ts'
import { newestQuestions, repliesTo, type MessageHead, type Question, type Reply } from '../../stores/questions.ts'

/** Tells teams apart by their handles: a team that left and came back has several, and one key. */
export type TeamKey = (handle: string) => string

export interface QuestionState {
  /** The first reply of each team or person that was asked. */
  answers: Reply[]
  /** The asker's reply that withdrew the question while some had not answered. */
  withdrawn: Reply | undefined
  /** The handles of the teams that owe an answer. */
  waitingFor: string[]
  /** The names of the people who do. */
  waitingForPeople: string[]
}

export const teamKeys = (teams: Pick<Participant, 'teamId' | 'teamName'>[]): TeamKey => {
  const keys = new Map(teams.map(({ teamId, teamName }) => [teamId, nameKey(teamName)]))
  return (handle) => keys.get(handle) ?? handle
}

/** A reply by a team or a person that was asked answers a question for that one; one by the asker that expects no reply withdraws it for
 *  all who have not answered. `replies`: those to this question, in their order. */
export const questionState = (question: Question, replies: readonly Reply[], key: TeamKey): QuestionState => {
  const asker = authorKey(question, key)
  const asked: Asked[] = [
    ...(question.to ?? []).map((handle) => ({ handle, key: ofTeam(key(handle)) })),
    ...(question.to_people ?? []).map((name) => ({ name, key: ofPerson(name) })),
  ]
  let open = asked.filter((one) => one.key !== asker)
  const answers: Reply[] = []
  let withdrawn: Reply | undefined
  for (const reply of replies) {
    const by = authorKey(reply, key)
    const left = open.filter((one) => one.key !== by)
    if (left.length < open.length) answers.push(reply)
    else if (by === asker && !reply.expects_reply && open.length > 0) withdrawn ??= reply
    open = left
  }
  const owing = withdrawn ? [] : open
  return {
    answers,
    withdrawn,
    waitingFor: owing.flatMap(({ handle }) => handle ?? []),
    waitingForPeople: owing.flatMap(({ name }) => name ?? []),
  }
}

interface Asked {
  handle?: string
  name?: string
  /** The addressee's key, to be compared with authorKey of a reply. */
  key: string
}

const ofTeam = (key: string) => `team:${key}`
const ofPerson = (name: string) => `person:${nameKey(name)}`

const authorKey = ({ author, team, posted_by_team_id }: MessageHead, key: TeamKey) =>
  posted_by_team_id !== null ? ofTeam(key(posted_by_team_id)) : author === 'person' ? ofPerson(team ?? '') : `${author}:${team}`

/** The states of these questions of one session, by id. */
export const questionStates = async (
  queries: Queries,
  sessionId: string,
  questions: Question[],
  key: TeamKey,
): Promise<Map<string, QuestionState>> => {
  const replies = await repliesTo(
    queries,
    sessionId,
    questions.map(({ id }) => id),
  )
  const byQuestion = Map.groupBy(replies, ({ reply_to }) => reply_to)
  return new Map(questions.map((question) => [question.id, questionState(question, byQuestion.get(question.id) ?? [], key)]))
}

export type OpenQuestion = Question & Pick<QuestionState, 'waitingFor' | 'waitingForPeople'>

/** The questions of a session that somebody still owes an answer, the newest first; of more than 1,000 questions the newest count. */
export const openQuestions = async (queries: Queries, sessionId: string, key: TeamKey): Promise<OpenQuestion[]> => {
  const questions = await newestQuestions(queries, sessionId)
  const states = await questionStates(queries, sessionId, questions, key)
  return questions.map((question) => ({ ...question, ...states.get(question.id)! })).filter(isOpen)
}

const isOpen = ({ waitingFor, waitingForPeople }: OpenQuestion) => waitingFor.length > 0 || waitingForPeople.length > 0

/** Whether the team asked this. */
export const isAskedBy = ({ posted_by_team_id }: MessageHead, team: string, key: TeamKey) =>
  posted_by_team_id !== null && key(posted_by_team_id) === key(team)
