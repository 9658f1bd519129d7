import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { counted } from '../../src/core/text/numbers.ts'
import { cn } from '../parts/cn.ts'
import { AgentDot } from './agent-dot.tsx'
import type { FamilyMember } from './agent-view.ts'

/** A tree of sessions as an indented list with connectors. `here`: the session whose page it is on. */
export const FamilyTree = ({ family, here }: { family: FamilyMember; here?: string }) => (
  <ul className="text-[12.5px]">
    <Member member={family} here={here} />
  </ul>
)

/** The sessions below a session, without itself. */
export const Descendants = ({ family }: { family: FamilyMember }) => <Below members={family.below} here={undefined} />

export const countOf = ({ below }: FamilyMember): number => below.reduce((sum, member) => sum + 1 + countOf(member), 0)

const Below = ({ members, here }: { members: FamilyMember[]; here: string | undefined }) => (
  <ul className="ml-[3px] text-[12.5px]">
    {members.map((member) => (
      <Member key={member.id} member={member} here={here} below />
    ))}
  </ul>
)

// The line from above ends at the last one's connector.
const CONNECTED =
  'relative pl-4 before:absolute before:top-0 before:left-0 before:h-full before:border-l last:before:h-3.5 after:absolute after:top-3.5 after:left-0 after:w-3 after:border-t before:border-border after:border-border'

const Member = ({ member, here, below = false }: { member: FamilyMember; here: string | undefined; below?: boolean }) => (
  <li className={cn(below && CONNECTED)}>
    <span className="flex min-h-7 min-w-0 items-center gap-2">
      {member.state ? <AgentDot state={member.state} /> : <span aria-hidden="true" className="size-2 shrink-0 rounded-full border" />}
      {member.id === here ? (
        <b aria-current="page" className="min-w-0 truncate font-medium text-foreground">
          {escapeInvisible(member.title)}
        </b>
      ) : (
        <a href={`/sessions/${member.id}`} className="relative min-w-0 truncate text-foreground hover:underline">
          {escapeInvisible(member.title)}
        </a>
      )}
      <span className="shrink-0 text-[11.5px] text-muted-foreground max-sm:hidden">{factsOf(member)}</span>
    </span>
    {member.below.length > 0 && <Below members={member.below} here={here} />}
  </li>
)

const factsOf = ({ forked, mode, promptedBy, concluded }: FamilyMember): string =>
  [forked && 'fork', mode, promptedBy && `prompted by ${escapeInvisible(promptedBy)}`, concluded && 'concluded'].filter(Boolean).join(' · ')

/** Carries a mark that changes when the tree does; public/agents.js then loads the tree. All viewers are sent the mark alone: a guest may
 *  not learn the names of other sessions. */
export const FamilyMark = ({ mark }: { mark: string }) => <i id="family-mark" data-mark={mark} hidden />

/** The tree below the head of a session's page, folded. */
export const Family = ({ family, here }: { family: FamilyMember | undefined; here: string }) => (
  <div id="family" className="lying:hidden">
    {family && (
      <details className="mt-1.5 text-[12.5px] text-muted-foreground">
        <summary className="w-fit cursor-pointer hover:text-foreground">{summaryOf(family, here)}</summary>
        <div tabIndex={0} role="region" aria-label="Tree of sessions" className="thin-scroll mt-1 max-h-64 overflow-y-auto pl-1">
          <FamilyTree family={family} here={here} />
        </div>
      </details>
    )}
  </div>
)

const summaryOf = (family: FamilyMember, here: string): string => {
  const count = countOf(family)
  return family.id === here ? `${counted(count, 'session')} below this one` : `One of a tree with ${counted(count, 'other session')}`
}
