import { FormField, type Problem } from '../forms/form-field.tsx'
import { hrefWith } from '../parts/href.ts'
import { Snippet } from '../parts/snippet.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { Alert } from '../ui/alert.tsx'
import { Button, LinkButton } from '../ui/button.tsx'
import { Card, CardContent, CardDescription, CardHeader, CardTitle } from '../ui/card.tsx'
import { KeysTable, SignInsTable, type KeyList, type KeyView, type SignInView } from './keys-tables.tsx'
import { Shell, type Frame } from './shell.tsx'
import { MakeLink, NewLink, type MadeLink } from './sign-in-link.tsx'

/** A key that was made just now: shown this once. */
export interface MadeKey {
  key: string
  use: { label: string; line: string }
}

export interface KeysView {
  /** The list of keys that is shown, and how many each has. */
  list: KeyList
  counts: Record<KeyList, number>
  keys: KeyView[]
  /** Where the older ones begin, if there are any. */
  olderKeys: string | null
  signIns: SignInView[]
  olderSignIns: string | null
  made: MadeKey | undefined
  notice: string | undefined
  problem: Problem | undefined
  /** The form's values, as they were sent. */
  values: Record<string, string>
  scopes: { scope: string; about: string }[]
  /** The id of the next key: the form sent twice makes one. */
  nextId: string
  madeLink: MadeLink | undefined
  linkProblem: Problem | undefined
  /** Whether the person came by a link, and makes more of them for their own name alone. */
  byLink: boolean
}

/** The page on which signed-in people make and revoke keys of programs, and see and end sign-ins. */
export const KeysPage = ({ frame, view }: { frame: Frame; view: KeysView }) => (
  <Shell frame={frame} title="Keys · Parley" crumbs={[{ label: 'Settings', href: '/settings' }, { label: 'Keys' }]}>
    <main id="main" className="mx-auto grid w-full max-w-4xl grid-cols-[minmax(0,1fr)] gap-6 px-4 py-7 sm:px-6">
      <div>
        <h1 className="text-xl font-semibold tracking-[-0.02em]">Keys and sign-ins</h1>
        <p className="mt-0.5 text-[13px] text-muted-foreground">Who and what may use this server. What is ended here ends at once.</p>
      </div>
      {view.notice && <Alert variant="ok">{view.notice}</Alert>}
      {view.made && <NewKey made={view.made} />}
      {view.madeLink && <NewLink made={view.madeLink} />}
      <Card id="keys" aria-label="Keys">
        <CardHeader>
          <CardTitle>Keys</CardTitle>
          <CardDescription>
            For programs. A key is sent with each call, as <code className="font-mono">Authorization: Bearer KEY</code>.
          </CardDescription>
        </CardHeader>
        <MakeKey view={view} />
        <div className="mx-4 mt-4">
          <Tabs
            label="Which keys"
            tabs={LISTS.map(({ list, label }) => ({
              label: `${label} ${view.counts[list]}`,
              href: keysHref(list),
              current: list === view.list,
            }))}
          />
        </div>
        <KeysTable keys={view.keys} list={view.list} />
        {view.olderKeys && <Older href={keysHref(view.list, view.olderKeys)}>Older keys</Older>}
      </Card>
      <Card id="sign-ins" aria-label="Sign-ins">
        <CardHeader>
          <CardTitle>Sign-ins</CardTitle>
          <CardDescription>
            The browsers in which somebody is signed in. “Named” came by a link of their own; the others typed their name.
          </CardDescription>
        </CardHeader>
        <MakeLink byLink={view.byLink} typed={view.values.person} problem={view.linkProblem} />
        <SignInsTable signIns={view.signIns} />
        {view.olderSignIns && <Older href={`/settings/keys?sign_ins=${view.olderSignIns}#sign-ins`}>Used longer ago</Older>}
      </Card>
    </main>
  </Shell>
)

const LISTS: { list: KeyList; label: string }[] = [
  { list: 'good', label: 'In force' },
  { list: 'revoked', label: 'Revoked' },
  { list: 'tasks', label: 'Of tasks' },
]

const keysHref = (list: KeyList, cursor?: string): string =>
  `${hrefWith('/settings/keys', { show: list === 'good' ? undefined : list, cursor })}#keys`

const Older = ({ href, children }: { href: string; children: string }) => (
  <p className="border-t px-4 py-3 text-center">
    <LinkButton variant="outline" size="sm" className="max-sm:h-9" href={href}>
      {children}
    </LinkButton>
  </p>
)

const NewKey = ({ made: { key, use } }: { made: MadeKey }) => (
  <Card aria-label="The new key" className="border-brand/40">
    <CardHeader>
      <CardTitle>The new key</CardTitle>
      <CardDescription>Copy it now: it is not shown again. Only its beginning is listed below.</CardDescription>
    </CardHeader>
    <CardContent className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <Snippet label="Key" code={key} />
      <Snippet label={use.label} code={use.line} />
    </CardContent>
  </Card>
)

const MakeKey = ({ view: { problem, values, scopes, nextId } }: { view: KeysView }) => (
  <form method="post" action="/settings/keys" className="mx-4 mt-4 grid gap-3 rounded-md border p-3">
    <input type="hidden" name="id" value={nextId} />
    {problem && problem.field === undefined && <Alert variant="destructive">{problem.text}</Alert>}
    <div className="grid gap-3 sm:grid-cols-2">
      <FormField
        name="name"
        label="Name"
        hint="By which you know it later."
        maxLength={100}
        required
        defaultValue={values.name}
        problem={problem}
      />
      <FormField
        name="scope"
        label="Scope"
        options={scopes.map(({ scope, about }) => ({ value: scope, text: `${scope}: ${about}` }))}
        defaultValue={values.scope ?? 'full'}
        problem={problem}
      />
      <FormField
        name="session_id"
        label="Session, for the scope sess alone"
        hint="Its id, or its link."
        maxLength={300}
        defaultValue={values.session_id}
        problem={problem}
      />
    </div>
    <Button type="submit" className="w-fit max-sm:h-9">
      Make a key
    </Button>
  </form>
)
