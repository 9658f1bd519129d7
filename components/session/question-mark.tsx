import type { ReactNode } from 'react'
import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { TextLink } from '../parts/text-link.tsx'
import { FOR_ACTORS } from './warning-strip.tsx'

/** What came of a question, for the row that asks it. */
export interface QuestionItem {
  /** The sequence of the question. */
  sequence: number
  answers: { sequence: number; name: string }[]
  /** The sequence of the message that withdrew it. */
  withdrawn: number | undefined
  /** The names of those who owe an answer, people among them. */
  waitingFor: string[]
  /** It waits for a person. */
  asksPerson: boolean
}

/** Below a question: who has answered it, with links to the answers, and for whom it waits. An open page puts a new one in its place. The
 *  mark is the same for all viewers: the link to answer it shows to people who may write. */
export const QuestionMark = ({ item: { sequence, answers, withdrawn, waitingFor, asksPerson } }: { item: QuestionItem }) => (
  <p id={`q${sequence}`} className="mt-0.5 mb-1 text-[11.5px] wrap-anywhere text-muted-foreground">
    Question
    {answers.map((answer) => (
      <Reply key={answer.sequence} sequence={answer.sequence}>
        answered by <bdi>{escapeInvisible(answer.name)}</bdi>
      </Reply>
    ))}
    {withdrawn !== undefined && <Reply sequence={withdrawn}>withdrawn</Reply>}
    {waitingFor.length > 0 && (
      <>
        <Dot />
        <span className="text-warn-foreground concluded:text-muted-foreground" title={escapeInvisible(waitingFor.join(', '))}>
          <span className="concluded:hidden">waiting for</span>
          <span className="live:hidden">not answered by</span> <Names names={waitingFor} />
        </span>
      </>
    )}
    {asksPerson && (
      <span className={`concluded:hidden ${FOR_ACTORS}`}>
        <Dot />
        <TextLink href={`?answer=${sequence}#message`} className="-my-1.5 inline-block py-1.5 font-medium">
          Answer
        </TextLink>
      </span>
    )}
  </p>
)

const Dot = () => <span aria-hidden="true"> · </span>

const Reply = ({ sequence, children }: { sequence: number; children: ReactNode }) => (
  <>
    <Dot />
    <a href={`#m${sequence}`} className="underline decoration-border underline-offset-2 hover:text-foreground">
      {children}, #{sequence}
    </a>
  </>
)

const MOST_NAMED = 4

const Names = ({ names }: { names: string[] }) => {
  const named = names.length > MOST_NAMED ? names.slice(0, MOST_NAMED - 1) : names
  return (
    <>
      {named.map((name, i) => (
        <span key={name}>
          {i > 0 && ', '}
          <bdi>{escapeInvisible(name)}</bdi>
        </span>
      ))}
      {named.length < names.length && ` and ${names.length - named.length} more`}
    </>
  )
}
