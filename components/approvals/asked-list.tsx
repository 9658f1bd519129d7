import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { TeamName } from '../parts/team.tsx'
import { TextLink } from '../parts/text-link.tsx'
import { agoInWords, moment } from '../parts/time.ts'
import { LinkButton } from '../ui/button.tsx'
import type { AskedView } from './inbox-view.ts'

/** What agents ask the person who reads this. A live page puts a new one in its place. */
export const AskedList = ({ asked, now }: { asked: AskedView[]; now: number }) => (
  <section id="asked" aria-labelledby="asked-title" hidden={asked.length === 0} className="mb-7">
    <h2 id="asked-title" className="mb-1.5 text-[13.5px] font-medium">
      Questions to you
    </h2>
    <ul className="divide-y rounded-lg border bg-card shadow-xs">
      {asked.map((question) => (
        <AskedItem key={`${question.session.id} ${question.sequence}`} asked={question} now={now} />
      ))}
    </ul>
  </section>
)

const AskedItem = ({ asked: { session, sequence, at, by, text }, now }: { asked: AskedView; now: number }) => {
  const page = `/sessions/${session.id}`
  return (
    <li data-asked="" className="flex flex-wrap items-end gap-x-3 gap-y-2 px-3.5 py-2.5 text-[13px]">
      <div className="min-w-0 flex-1 basis-64">
        <p className="text-[12.5px] text-muted-foreground wrap-anywhere">
          <TeamName team={by} /> asks in{' '}
          <TextLink quiet dir="auto" href={`${page}?around=${sequence}#m${sequence}`}>
            {escapeInvisible(session.title)}
          </TextLink>{' '}
          ·{' '}
          <time dateTime={at} title={moment(at)}>
            {agoInWords(at, now)}
          </time>
        </p>
        <p dir="auto" className="mt-0.5 line-clamp-4 wrap-anywhere">
          {escapeInvisible(text)}
        </p>
      </div>
      <LinkButton variant="outline" className="h-9 max-sm:h-11 max-sm:w-full" href={`${page}?answer=${sequence}#message`}>
        Answer
      </LinkButton>
    </li>
  )
}
