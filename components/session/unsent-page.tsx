import type { ReactNode } from 'react'
import { LinkButton } from '../ui/button.tsx'
import { Shell, type Frame } from '../site/shell.tsx'

interface UnsentProps {
  frame: Frame
  sessionId: string
  /** What was refused. */
  what: 'message' | 'prompt'
  /** What is to be done, where nothing was sent yet. */
  heading?: string | undefined
  /** The form, with what was typed. */
  children: ReactNode
}

/** Without script: what is to be sent, or was refused, to be corrected and sent again. */
export const UnsentPage = ({ frame, sessionId, what, heading, children }: UnsentProps) => {
  const name = what === 'message' ? 'Message' : 'Prompt'
  return (
    <Shell
      frame={frame}
      title={`${name} · Parley`}
      crumbs={[{ label: 'Sessions', href: '/' }, { label: sessionId.slice(0, 8), href: `/sessions/${sessionId}` }, { label: name }]}
    >
      <main id="main" className="mx-auto w-full max-w-2xl px-4 py-7 sm:px-6">
        <h1 className="mb-3 px-3 text-lg wrap-anywhere font-semibold tracking-[-0.015em]">{heading ?? `This ${what} was not sent`}</h1>
        {children}
        <LinkButton href={`/sessions/${sessionId}`} variant="outline" className="ml-3">
          Back to the session
        </LinkButton>
      </main>
    </Shell>
  )
}
