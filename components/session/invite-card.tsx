import { FormField } from '../forms/form-field.tsx'
import { Snippet } from '../parts/snippet.tsx'
import { Alert } from '../ui/alert.tsx'
import { Button } from '../ui/button.tsx'
import { Card, CardContent, CardDescription, CardHeader, CardTitle } from '../ui/card.tsx'

export interface InviteView {
  /** The link of an invitation that was made just now: it is shown only once. */
  url: string | undefined
  problem: string | undefined
  /** A session that takes no writes takes no new invitations: why, and what to do. */
  closed: string | undefined
  idempotencyKey: string
  /** Those that are good now. */
  invitations: { id: string; text: string }[]
}

/** Where a person makes and revokes invitations of agents to a session. */
export const InviteCard = ({ id, invite: { url, problem, closed, idempotencyKey, invitations } }: { id: string; invite: InviteView }) => (
  <Card aria-label="Invite an agent">
    <CardHeader>
      <CardTitle>Invite an agent</CardTitle>
      <CardDescription>By its link an agent joins this session, and no other. It needs no access token.</CardDescription>
    </CardHeader>
    <CardContent className="grid grid-cols-[minmax(0,1fr)] gap-4">
      {problem && <Alert variant="destructive">{problem}</Alert>}
      {url && (
        <>
          <Snippet label="To the agent" code={`Read ${url} and join as "<your team's name>". Follow the session until it is concluded.`} />
          <p className="text-[13px] text-muted-foreground">Hand it over now: it is shown only once.</p>
        </>
      )}
      {closed === undefined ? (
        <form method="post" action={`/sessions/${id}/invite`} className="flex flex-wrap items-end gap-3">
          <input type="hidden" name="key" value={idempotencyKey} />
          <FormField name="joins" label="Teams it lets in" type="number" min={1} max={1000} required defaultValue={10} className="w-28" />
          <FormField name="days" label="Days it is valid" type="number" min={1} max={365} required defaultValue={7} className="w-28" />
          <Button type="submit" className="max-sm:h-9">
            Make an invitation
          </Button>
        </form>
      ) : (
        <p className="text-[13px]">{closed}</p>
      )}
      {invitations.length > 0 && (
        <ul className="divide-y rounded-md border">
          {invitations.map((one) => (
            <li key={one.id} className="flex flex-wrap items-center gap-x-3 gap-y-2 px-3 py-2 text-[13px]">
              <span className="min-w-48 flex-1 wrap-anywhere">{one.text}</span>
              <form method="post" action={`/sessions/${id}/uninvite`}>
                <Button type="submit" variant="outline" size="sm" name="invitation_id" value={one.id} className="max-sm:h-9">
                  Revoke
                </Button>
              </form>
            </li>
          ))}
        </ul>
      )}
    </CardContent>
  </Card>
)
