import { isLoopbackHost } from '../../src/core/address.ts'
import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { FormField, type Problem } from '../forms/form-field.tsx'
import { Snippet } from '../parts/snippet.tsx'
import { Alert } from '../ui/alert.tsx'
import { Button } from '../ui/button.tsx'
import { Card, CardContent, CardDescription, CardHeader, CardTitle } from '../ui/card.tsx'

/** A sign-in link that was made just now: shown this once. */
export interface MadeLink {
  name: string
  url: string
  until: string
  /** The server's address, with which the link begins. */
  base: string
}

export const NewLink = ({ made: { name, url, until, base } }: { made: MadeLink }) => (
  <Card aria-label="The sign-in link" className="border-brand/40">
    <CardHeader>
      <CardTitle className="wrap-anywhere">The sign-in link of {escapeInvisible(name)}</CardTitle>
      <CardDescription>
        Copy it now: it is not shown again. It signs in once, until {until}, whoever opens it and presses the button; then nobody else is{' '}
        {escapeInvisible(name)} here.
        {isLoopbackHost(new URL(base).host) && ` At ${base} another machine reaches this server through a tunnel alone.`}
      </CardDescription>
    </CardHeader>
    <CardContent className="grid grid-cols-[minmax(0,1fr)]">
      <Snippet label="Sign-in link" code={url} sentences />
    </CardContent>
  </Card>
)

interface Props {
  byLink: boolean
  typed: string | undefined
  problem: Problem | undefined
}

/** Makes the link by which a colleague signs in or, for who came by one, the next browser of their own. */
export const MakeLink = ({ byLink, typed, problem }: Props) => (
  <form method="post" action="/settings/sign-ins/link" className="mx-4 mt-4 grid gap-3 rounded-md border p-3">
    {problem && problem.field === undefined && <Alert variant="destructive">{problem.text}</Alert>}
    {byLink ? (
      <p className="text-[13px] text-muted-foreground">You came by a link. In another browser of yours, another one signs you in.</p>
    ) : (
      <FormField
        name="person"
        label="A colleague’s name"
        hint="The link signs them in, once. From then on nobody else has this name, and whoever typed it is signed out."
        maxLength={100}
        required
        defaultValue={typed}
        problem={problem}
      />
    )}
    <Button type="submit" variant="outline" className="w-fit max-sm:h-9">
      Make a sign-in link
    </Button>
  </form>
)
