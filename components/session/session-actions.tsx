import { FormsDialog } from '../forms/act-form.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import type { Frame } from '../site/shell.tsx'
import { LinkButton } from '../ui/button.tsx'
import { Menu, MenuLink } from '../ui/menu.tsx'

interface Props {
  sessionId: string
  person: Frame['person']
  /** The session has an agent. */
  agent?: boolean
}

// The title gets the room first: a narrow window shows the main action and a menu of the others, a phone the menu alone.
const WIDE = 'max-lg:hidden'
const FIRST = 'max-sm:hidden'
const NARROW = 'lg:hidden'
const PHONE = 'sm:hidden'

/** The actions of a session's page: connecting an agent and exports for everybody, the session's forms for signed-in people. */
export const SessionActions = ({ sessionId, person, agent = false }: Props) => {
  const at = `/sessions/${sessionId}`
  const mayAct = person?.role === 'person'
  const guest = person?.role === 'guest'
  return (
    <div className="flex shrink-0 items-center gap-1.5">
      {!guest && (
        <LinkButton href={`/connect?session=${sessionId}`} variant="outline" className={`${WIDE} concluded:hidden`}>
          <Icon name="plug" />
          Connect agent
        </LinkButton>
      )}
      <Menu menu="export-menu" className={WIDE} items={<Exports at={at} />}>
        <Icon name="download" />
        Export
      </Menu>
      {mayAct && (
        <>
          <LinkButton {...inDialog(`${at}/conclude`)} className={`${FIRST} concluded:hidden`}>
            <Icon name="flag" />
            Conclude
          </LinkButton>
          <LinkButton {...inDialog(`${at}/resume`)} className={`${FIRST} live:hidden`}>
            <Icon name="resume" />
            Resume
          </LinkButton>
        </>
      )}
      <Menu
        menu="session-menu"
        size="icon"
        aria-label="More actions"
        title="More actions"
        items={
          <>
            {!guest && (
              <Item icon="plug" label="Connect an agent" href={`/connect?session=${sessionId}`} when={`${NARROW} concluded:hidden`} />
            )}
            <Exports at={at} when={NARROW} />
            <Item icon="turns" label="Turns" href={`${at}/turns`} />
            {!guest && <Item icon="history" label="The document’s history" href={`${at}/history`} />}
            {mayAct && (
              <>
                <Item icon="bell" label="Be told when you are needed" href="/settings#notifications" />
                <Item icon="key" label="Share, or invite an agent…" href={`${at}/share`} />
                <Item icon="pencil" label="Change title or description…" {...inDialog(`${at}/edit`)} when="concluded:hidden" />
                <Item icon="users" label="Name the convener…" {...inDialog(`${at}/convener`)} when="concluded:hidden" />
                {agent && <AgentItems at={at} />}
                <Item icon="flag" label="Conclude…" {...inDialog(`${at}/conclude`)} when={`${PHONE} concluded:hidden`} />
                <Item icon="resume" label="Resume in a new session…" {...inDialog(`${at}/resume`)} when={`${PHONE} live:hidden`} />
                <Item icon="pencil" label="Revise the conclusion…" {...inDialog(`${at}/conclude`)} when="live:hidden archived:hidden" />
                <Item icon="reopen" label="Reopen…" {...inDialog(`${at}/reopen`)} when="live:hidden archived:hidden" />
                {!agent && <MeetingItems at={at} />}
              </>
            )}
          </>
        }
      >
        <Icon name="more" />
      </Menu>
      {mayAct && <FormsDialog />}
    </div>
  )
}

// Whether it is stopped says the line below the title, which lives.
const AgentItems = ({ at }: { at: string }) => (
  <>
    <Item icon="settings" label="What the agent may…" {...inDialog(`${at}/limits`)} when="archived:hidden" />
    <Item icon="dot" label="Stop the agent…" {...inDialog(`${at}/stop`)} when="[body:has(#agent[data-stopped])_&]:hidden" />
    <Item
      icon="resume"
      label="Start the agent again…"
      {...inDialog(`${at}/start`)}
      when="[body:not(:has(#agent[data-stopped]))_&]:hidden"
    />
    <Archive at={at} />
  </>
)

const MeetingItems = ({ at }: { at: string }) => (
  <>
    <Archive at={at} />
    <Item icon="reopen" label="Bring the session back…" {...inDialog(`${at}/restore`)} when="not-archived:hidden" />
  </>
)

const Archive = ({ at }: { at: string }) => <Item icon="archive" label="Archive…" {...inDialog(`${at}/archive`)} when="archived:hidden" />

/** The attributes of a link to a form, which opens as a dialog where scripts run. A second click while it loads is dropped: its answer would
 *  take the place of the form that is open by then, and of what was kept for it (public/dialog.js). */
export const inDialog = (href: string) => ({ href, 'hx-get': href, 'hx-target': '#dialog', 'hx-swap': 'innerHTML', 'hx-sync': 'drop' })

const Exports = ({ at, when }: { at: string; when?: string }) => (
  <>
    <Item icon="document" label="Export as Markdown" href={`${at}.md`} download when={when} />
    <Item icon="message" label="Export the feed as JSON Lines" href={`${at}/feed.jsonl`} download when={when} />
  </>
)

type ItemProps = { icon: IconName; label: string; href: string; download?: boolean; when?: string | undefined }

const Item = ({ icon, label, when, ...link }: ItemProps) => (
  <MenuLink itemClass={when} {...link}>
    <Icon name={icon} />
    {label}
  </MenuLink>
)
