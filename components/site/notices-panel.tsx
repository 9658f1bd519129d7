import type { ReactNode } from 'react'
import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { Alert } from '../ui/alert.tsx'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import type { Notice } from './link-card.tsx'

export interface ToldBrowser {
  id: string
  /** What it says it is. */
  browser: string
  person: string
  mine: boolean
  here: boolean
  titles: boolean
  since: string
  /** The day on which the sign-in that it hangs on runs out. */
  until: string
  /** The host of its push service. */
  service: string
  /** Why the last notice did not arrive. */
  problem: string | undefined
}

export interface NoticesView {
  notifyUrl: boolean
  /** What browsers subscribe to; undefined where this server cannot reach push services. */
  publicKey: string | undefined
  /** The hash of the endpoint at which this browser is told, as far as the server knows. */
  here: string | undefined
  browsers: ToldBrowser[]
}

/** By which ways people are told, for signed-in people. */
export const NoticesPanel = ({ notices, notice }: { notices: NoticesView; notice: Notice | undefined }) => (
  <div className="grid gap-4 px-4 pt-4 text-[13px]">
    {notice && <Alert variant={notice.variant} className="wrap-anywhere" children={notice.text} />}
    <ThisBrowser {...notices} />
    {notices.browsers.length > 0 && <Browsers browsers={notices.browsers} />}
    <div className="flex flex-wrap gap-2">
      {notices.notifyUrl && <TestForm way="notify_url" label="Send a test to NOTIFY_URL" />}
      {notices.browsers.some(({ mine }) => mine) && <TestForm way="push" label="Send a test to my browsers" />}
    </div>
  </div>
)

// public/push.js finds out which of these states holds, and says so in data-state; it also fills in and submits the form.
const ThisBrowser = ({ publicKey, here, browsers }: NoticesView) => (
  <div id="push" data-state="script" data-key={publicKey} data-here={here} className="group/push grid gap-2 rounded-md border p-3">
    <h3 className="font-medium">In this browser</h3>
    <p aria-live="polite" className="text-muted-foreground">
      <State of="script" className="noscript:inline">
        A browser subscribes by JavaScript, which does not run here. NOTIFY_URL works without.
      </State>
      <State of="insecure" className="group-data-[state=insecure]/push:inline">
        Browsers allow notifications only to pages that come over https or from their own machine, and this page does neither. Put an https
        proxy in front of Parley, or set NOTIFY_URL.
      </State>
      <State of="unsupported" className="group-data-[state=unsupported]/push:inline">
        This browser has no Web Push, or none in a private window. Use another one, or set NOTIFY_URL.
      </State>
      <State of="denied" className="group-data-[state=denied]/push:inline">
        You have blocked notifications of this page. Allow them where the browser keeps a site’s permissions (the icon before the address),
        then load the page again.
      </State>
      <State of="off" className="group-data-[state=off]/push:inline">
        Off. Turned on, it shows a notification wherever you are. It names the session and says why, and holds nothing of what was said.
      </State>
      <State of="on" className="group-data-[state=on]/push:inline">
        On, until you sign out or remove it, or until {browsers.find((each) => each.here)?.until}: signing in again here prolongs that.
      </State>
      <State of="failed" className="group-data-[state=failed]/push:inline">
        The browser could not subscribe at its push service. Try again once it can reach it.
      </State>
    </p>
    <form
      method="post"
      action="/settings/push"
      className="hidden flex-wrap items-center gap-x-4 gap-y-2 group-data-[state=failed]/push:flex group-data-[state=off]/push:flex group-data-[state=on]/push:flex"
    >
      {['endpoint', 'p256dh', 'auth'].map((name) => (
        <input key={name} type="hidden" name={name} />
      ))}
      <label className="flex items-center gap-1.5">
        <input type="checkbox" name="titles" value="1" defaultChecked={browsers.some(({ here, titles }) => here && titles)} />
        Show the session’s title
      </label>
      <Button type="submit" size="sm" className="max-sm:h-9">
        <span className="group-data-[state=on]/push:hidden">Turn on</span>
        <span className="hidden group-data-[state=on]/push:inline">Save</span>
      </Button>
    </form>
  </div>
)

const State = ({ of, className, children }: { of: string; className: string; children: ReactNode }) => (
  <span data-of={of} className={`hidden ${className}`}>
    {children}
  </span>
)

const Browsers = ({ browsers }: { browsers: ToldBrowser[] }) => (
  <ul aria-label="Browsers that are told" className="divide-y rounded-md border">
    {browsers.map(({ id, browser, person, here, titles, since, until, service, problem }) => (
      <li key={id} className="flex items-center gap-3 px-3 py-2">
        <div className="min-w-0 flex-1 wrap-anywhere">
          <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
            {browser}
            {here && <Badge>This browser</Badge>}
          </p>
          <p className="text-[12px] text-muted-foreground">
            {escapeInvisible(person)}, {since} ago, {titles ? 'with titles' : 'without titles'}, through {service}, until {until}
          </p>
          {problem && (
            <p className="text-[12px] text-warn-foreground">
              The last notice did not arrive: {service} {problem}.
            </p>
          )}
        </div>
        <form method="post" action="/settings/push/remove">
          <input type="hidden" name="id" value={id} />
          <Button
            type="submit"
            variant="outline"
            size="sm"
            className="max-sm:h-9"
            aria-label={`Remove ${browser} of ${escapeInvisible(person)}`}
          >
            Remove
          </Button>
        </form>
      </li>
    ))}
  </ul>
)

// The page that answers begins at this section again.
const TestForm = ({ way, label }: { way: string; label: string }) => (
  <form method="post" action="/settings/notices/test#notifications">
    <input type="hidden" name="way" value={way} />
    <Button type="submit" variant="outline" size="sm" className="max-sm:h-9">
      {label}
    </Button>
  </form>
)
