import { TextLink } from '../parts/text-link.tsx'
import type { Frame } from '../site/shell.tsx'

/** For who may read and not decide: why there are no buttons, and the way to them. */
export const SignInToDecide = ({ frame: { person, path } }: { frame: Frame }) =>
  person?.role === 'person' ? null : (
    <p className="mb-3 rounded-md border bg-muted/40 px-3 py-2 text-[13px]">
      {person ? (
        'You signed in with the viewer’s password, which only allows reading. Sign out, and in again with your own link or key, to decide.'
      ) : (
        <>
          Signed-in people decide.{' '}
          <TextLink href={`/sign-in?next=${encodeURIComponent(path)}`} className="font-medium">
            Sign in to decide
          </TextLink>
        </>
      )}
    </p>
  )
