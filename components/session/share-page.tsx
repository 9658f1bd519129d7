import { Shell, type Frame } from '../site/shell.tsx'
import { InviteCard, type InviteView } from './invite-card.tsx'
import { Snippet } from '../parts/snippet.tsx'
import { Alert } from '../ui/alert.tsx'
import { Button, LinkButton } from '../ui/button.tsx'
import { Card, CardContent, CardDescription, CardHeader, CardTitle } from '../ui/card.tsx'

export interface ShareView {
  id: string
  title: string
  /** The active link: who made it, and how long ago. */
  shared: { by: string; age: string } | undefined
  /** A link that was made just now: it is shown only once. */
  url: string | undefined
  problem: string | undefined
  idempotencyKey: string
}

/** The page on which a session's read-only link is made, replaced and revoked, and agents are invited. */
export const SharePage = ({ frame, session, invite }: { frame: Frame; session: ShareView; invite: InviteView }) => (
  <Shell
    frame={frame}
    title="Share · Parley"
    crumbs={[{ label: 'Sessions', href: '/' }, { label: session.id.slice(0, 8), href: `/sessions/${session.id}` }, { label: 'Share' }]}
  >
    <main id="main" className="mx-auto grid w-full max-w-2xl grid-cols-[minmax(0,1fr)] gap-6 px-4 py-7 sm:px-6">
      <h1 className="sr-only">Share</h1>
      <ShareCard session={session} />
      <InviteCard id={session.id} invite={invite} />
    </main>
  </Shell>
)

const ShareCard = ({ session: { id, title, shared, url, problem, idempotencyKey } }: { session: ShareView }) => (
  <Card aria-label="Read-only link">
    <CardHeader>
      <CardTitle>Read-only link to “{title}”</CardTitle>
      <CardDescription>Anyone with the link can read, follow and download this session, and nothing else.</CardDescription>
    </CardHeader>
    <CardContent className="grid gap-4">
      {problem && <Alert variant="destructive">{problem}</Alert>}
      {url && (
        <>
          <Snippet label="Link" code={url} />
          <p className="text-[13px] text-muted-foreground">Copy it now: it is shown only once.</p>
        </>
      )}
      <p className="text-[13px]">{shared ? `A link is active, made by ${shared.by} ${shared.age}.` : 'No link is active.'}</p>
      <div className="flex flex-wrap gap-2">
        <form method="post" action={`/sessions/${id}/share`}>
          <input type="hidden" name="key" value={idempotencyKey} />
          <Button type="submit" variant={shared ? 'outline' : 'default'}>
            {shared ? 'Replace the link' : 'Make a link'}
          </Button>
        </form>
        {shared && (
          <form method="post" action={`/sessions/${id}/unshare`}>
            <Button type="submit" variant="outline">
              Revoke the link
            </Button>
          </form>
        )}
        <LinkButton variant="ghost" href={`/sessions/${id}`}>
          Back to the session
        </LinkButton>
      </div>
    </CardContent>
  </Card>
)
