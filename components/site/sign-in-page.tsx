import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { Icon } from '../parts/icon.tsx'
import { moment } from '../parts/time.ts'
import { Shell, type Frame } from './shell.tsx'
import { Alert } from '../ui/alert.tsx'
import { Button, LinkButton } from '../ui/button.tsx'
import { Card } from '../ui/card.tsx'
import { Input } from '../ui/input.tsx'
import { Label } from '../ui/label.tsx'

interface Props {
  frame: Frame
  next: string
  name: string
  /** Why the last attempt failed. */
  problem: string | undefined
  /** What opens reading to those without the key: nothing is needed, the viewer's password, or nothing does. */
  reading: keyof typeof READING
  /** The key is OPERATOR_KEY, and none is made. */
  chosen: boolean
}

const READING = {
  open: 'Reading is open. Who signs in may change things.',
  password: 'With the operator key you may change things, with the viewer’s password read.',
  closed: 'This server is private.',
}

export const SignInPage = ({ frame, next, name, problem, reading, chosen }: Props) => (
  <Shell frame={frame} title="Sign in · Parley" crumbs={[{ label: 'Sign in' }]}>
    <main id="main" className="mx-auto w-full max-w-sm px-4 py-12 sm:py-20">
      <Card aria-label="Sign in" className="p-5">
        <h1 className="text-lg font-semibold tracking-[-0.015em]">Sign in</h1>
        <p className="mt-1 text-[13px] text-muted-foreground">{READING[reading]}</p>
        {problem && (
          <Alert variant="destructive" className="mt-4">
            {problem}
          </Alert>
        )}
        <form method="post" action="/sign-in" className="mt-4 grid gap-3">
          <input type="hidden" name="next" value={next} />
          <div className="grid gap-1">
            <Label htmlFor="key">{reading === 'password' ? 'Operator key or password' : 'Operator key'}</Label>
            <Input id="key" name="key" type="password" required autoComplete="current-password" maxLength={500} />
          </div>
          <div className="grid gap-1">
            <Label htmlFor="name">Your name</Label>
            <Input id="name" name="name" defaultValue={name} autoComplete="name" maxLength={100} placeholder="Operator" />
          </div>
          <Button type="submit" className="mt-1 h-9">
            <Icon name="key" />
            Sign in
          </Button>
        </form>
        <p className="mt-4 text-[12px] text-muted-foreground">
          Not your server? Ask whoever runs it for a link of your own, which they make under Settings, “Keys and sign-ins”.
        </p>
        <p className="mt-2 text-[12px] text-muted-foreground">
          You run it?{' '}
          {chosen ? (
            <>
              The key is the <code className="font-mono">OPERATOR_KEY</code> with which it was started.
            </>
          ) : (
            <>
              The key was printed as a link at the first start. <code className="font-mono">bun run operator-key</code> makes a new one, and
              signs everybody out.
            </>
          )}
        </p>
      </Card>
    </main>
  </Shell>
)

interface LinkProps {
  frame: Frame
  /** The text of the link that signs in once, for whom, and until when. */
  link: string
  name: string
  expiresAt: string
  next: string
}

/** The page of a link that signs in once. Opening it leaves the link as it is; the button uses it up. */
export const LinkPage = ({ frame, link, name, expiresAt, next }: LinkProps) => (
  <Shell frame={frame} title="Sign in · Parley" crumbs={[{ label: 'Sign in' }]}>
    <main id="main" className="mx-auto w-full max-w-sm px-4 py-12 sm:py-20">
      <Card aria-label="Sign in" className="p-5">
        <h1 className="text-lg font-semibold tracking-[-0.015em]">Sign in</h1>
        <p className="mt-1 text-[13px] text-muted-foreground wrap-anywhere">
          This link is for {escapeInvisible(name)} alone, and signs in once.
        </p>
        <form method="post" action="/sign-in" className="mt-4 grid">
          <input type="hidden" name="key" value={link} />
          <input type="hidden" name="next" value={next} />
          <Button type="submit" className="h-auto min-h-9 py-1.5 whitespace-normal">
            <Icon name="key" />
            <span className="wrap-anywhere">Sign in as {escapeInvisible(name)}</span>
          </Button>
        </form>
        <p className="mt-4 text-[12px] text-muted-foreground">
          Opening it uses nothing up: the button does. It expires on <time dateTime={expiresAt}>{moment(expiresAt)}</time>.
        </p>
      </Card>
    </main>
  </Shell>
)

/** Between a link on somebody else's page and ours: a strict cookie is sent only once the browser moves on from here by itself. */
export const SignedInPage = ({ frame, next }: { frame: Frame; next: string }) => (
  <Shell frame={frame} title="Signed in · Parley" crumbs={[{ label: 'Sign in' }]}>
    <main id="main" className="mx-auto w-full max-w-sm px-4 py-20 text-center">
      <h1 className="text-lg font-semibold">You are signed in</h1>
      <LinkButton href={next} className="mt-4">
        Continue
      </LinkButton>
    </main>
  </Shell>
)
