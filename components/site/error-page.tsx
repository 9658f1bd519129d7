import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { Shell, type Frame } from './shell.tsx'
import { LinkButton } from '../ui/button.tsx'

interface Props {
  frame: Frame
  status: number
  title: string
  message: string
}

export const ErrorPage = ({ frame, status, title, message }: Props) => (
  <Shell frame={frame} title={`${title} · Parley`}>
    <main id="main" className="mx-auto w-full max-w-md px-4 py-20 text-center">
      <p className="font-mono text-[13px] text-muted-foreground">{status}</p>
      <h1 className="mt-1 text-xl font-semibold tracking-[-0.02em]">{title}</h1>
      <p className="mt-2 text-[13px] text-balance text-muted-foreground wrap-anywhere">{escapeInvisible(message)}</p>
      <p className="mt-6 flex justify-center gap-2">
        {status === 401 && <LinkButton href="/sign-in">Sign in</LinkButton>}
        {frame.person?.role !== 'guest' && (
          <LinkButton href="/" variant="outline">
            Back to sessions
          </LinkButton>
        )}
      </p>
    </main>
  </Shell>
)
