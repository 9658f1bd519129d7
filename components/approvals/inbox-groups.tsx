import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { PermissionCard } from '../agents/permission-card.tsx'
import { Icon } from '../parts/icon.tsx'
import { TeamName } from '../parts/team.tsx'
import { cn } from '../parts/cn.ts'
import { TextLink } from '../parts/text-link.tsx'
import { NotSent } from '../forms/act-form.tsx'
import { FOR_ACTORS } from '../session/warning-strip.tsx'
import { Button, buttonVariants } from '../ui/button.tsx'
import type { AskedFor, InboxGroup, Together, TogetherOutcome } from './inbox-view.ts'
import { ProposalCard } from './proposal-card.tsx'

/** What an agent asks permission for, in the inbox: it waits for minutes, so it stands first. */
export const AskedForItem = ({ asked: { session, card } }: { asked: AskedFor }) => (
  <li>
    <p className="mb-1 text-[12.5px] text-muted-foreground wrap-anywhere">
      An agent asks for permission in{' '}
      <TextLink quiet dir="auto" href={`/sessions/${session.id}`}>
        {escapeInvisible(session.title)}
      </TextLink>
    </p>
    <PermissionCard card={card} />
  </li>
)

/** The proposals of one session. */
export const GroupSection = ({ group: { session, cards, together } }: { group: InboxGroup }) => (
  <section data-session={session.id} aria-label={escapeInvisible(session.title)} className="grid grid-cols-[minmax(0,1fr)] gap-3">
    <h2 className="line-clamp-2 text-[13.5px] font-medium wrap-anywhere">
      <a dir="auto" href={`/sessions/${session.id}`} className="-outline-offset-2 hover:underline">
        {escapeInvisible(session.title)}
      </a>
    </h2>
    {together.map((one) => (
      <ApproveTogether key={one.anchor} together={one} />
    ))}
    <ul className="grid grid-cols-[minmax(0,1fr)] gap-3">
      {cards.map((card) => (
        <li key={card.id}>
          <ProposalCard proposal={card} />
        </li>
      ))}
    </ul>
  </section>
)

/** All that one team proposed here, with one question: it shows every title before it asks. */
const ApproveTogether = ({ together: { anchor, team, proposals } }: { together: Together }) => (
  <div id={anchor} tabIndex={-1} className={FOR_ACTORS}>
    <details className="rounded-lg border bg-card shadow-xs">
      <summary
        className={cn(
          buttonVariants({ variant: 'ghost' }),
          'h-11 w-full list-none justify-start px-3.5 text-foreground -outline-offset-2 [&::-webkit-details-marker]:hidden',
        )}
      >
        <Icon name="chevron" className="text-muted-foreground transition-transform in-open:rotate-90" />
        <span className="truncate">
          Approve these <span data-count="">{proposals.length}</span> of <TeamName team={team} />
        </span>
      </summary>
      <form
        method="post"
        action="/approvals"
        hx-post="/approvals"
        hx-target={`#${anchor}`}
        hx-swap="innerHTML"
        hx-disable="find [type=submit]"
        className="grid gap-3 border-t px-3.5 py-3 text-[13px]"
      >
        <ol className="grid gap-1">
          {proposals.map(({ id, title, idempotencyKey }) => (
            <li key={id} dir="auto" className="wrap-anywhere">
              {escapeInvisible(title)}
              <input type="hidden" name="proposal" value={id} />
              <input type="hidden" name="key" value={`approve.${idempotencyKey}`} />
            </li>
          ))}
        </ol>
        <Button type="submit" className="h-11 w-full sm:w-fit">
          <span>
            Approve all <span data-count="">{proposals.length}</span> as they are
          </span>
        </Button>
        <NotSent typed={false} />
      </form>
    </details>
  </div>
)

/** What came of each, in the place of the question. */
export const TogetherDone = ({ outcomes }: { outcomes: TogetherOutcome[] }) => (
  <ul role="status" className="grid gap-1 rounded-lg border bg-muted/40 px-3.5 py-2.5 text-[12.5px]">
    {outcomes.map(({ title, done, said }, i) => (
      <li key={i} className="wrap-anywhere">
        <b className={done ? 'font-medium text-ok-foreground' : 'font-medium text-warn-foreground'}>{said}</b>{' '}
        <bdi>{escapeInvisible(title)}</bdi>
      </li>
    ))}
  </ul>
)
