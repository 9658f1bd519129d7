import type { ServerLink } from '../../src/core/server-link.ts'
import type { Frame } from './shell.tsx'
import { Snippet } from '../parts/snippet.tsx'
import { claude, codexConfig, connectCommand, CONNECTS, curlCreate } from '../parts/snippets.ts'
import { TextLink } from '../parts/text-link.tsx'
import { Alert } from '../ui/alert.tsx'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Card, CardContent, CardDescription, CardHeader, CardTitle } from '../ui/card.tsx'
import { Input } from '../ui/input.tsx'
import { Label } from '../ui/label.tsx'

export interface McpLink extends ServerLink {
  source: 'saved' | 'environment' | 'request'
  /** The link that holds once the saved one is forgotten, and whether MCP_URL sets it. */
  otherwise: string
  configured: boolean
}

/** The outcome of a form. */
export interface Notice {
  variant: 'ok' | 'warn' | 'destructive'
  text: string
  /** The section that it is about; the link's unless given. */
  at?: 'notifications'
}

interface Props {
  frame: Frame
  link: McpLink
  /** The URL of the program `parley`, if this server hands one out. */
  program: string | undefined
  notice: Notice | undefined
  /** The text that was rejected. */
  typed: string | undefined
}

const SOURCES = { saved: 'saved on this page', environment: 'from MCP_URL', request: 'from the URL you called' }

/** The link in force, its source, and the forms that change and check it. */
export const LinkCard = ({ frame, link, program, notice, typed }: Props) => (
  <Card id="link" aria-label="MCP link">
    <CardHeader>
      <CardTitle>MCP link</CardTitle>
      <CardDescription>The link agents are given. A change takes effect at once, here and in AGENTS.md.</CardDescription>
    </CardHeader>
    <CardContent className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-[13px]">
        <code className="font-mono text-[12.5px] break-all">{link.url}</code>
        <Badge>{SOURCES[link.source]}</Badge>
      </p>
      {notice && <Alert variant={notice.variant} className="wrap-anywhere" children={notice.text} />}
      <ChangeLink frame={frame} link={link} typed={typed} />
      {program && <Snippet label={CONNECTS} code={connectCommand(program)} />}
      <Snippet label="Claude Code" code={claude(link)} />
      <Snippet label="Codex, config.toml" code={codexConfig(link)} />
      <Snippet label="curl" code={curlCreate(link)} />
    </CardContent>
  </Card>
)

const ChangeLink = ({ frame, link, typed }: Omit<Props, 'notice' | 'program'>) => {
  if (frame.person?.role === 'reader')
    return <p className="text-[13px] text-muted-foreground">You signed in with the viewer's password, which only allows reading.</p>
  if (!frame.person) {
    return (
      <p className="text-[13px] text-muted-foreground">
        <TextLink href="/sign-in?next=/settings">Sign in to change this</TextLink>.
      </p>
    )
  }
  return (
    <>
      <form method="post" action="/settings/mcp-url" className="grid gap-1.5">
        <Label htmlFor="mcp_url">New link</Label>
        <div className="flex gap-2">
          <Input
            id="mcp_url"
            name="mcp_url"
            type="url"
            maxLength={2_000}
            defaultValue={typed ?? link.url}
            placeholder={link.otherwise}
            aria-invalid={typed !== undefined}
            className="font-mono text-[12.5px]"
          />
          <Button type="submit" className="max-sm:h-9">
            Save
          </Button>
        </div>
      </form>
      <form method="post" action="/settings/check" className="flex flex-wrap items-center gap-2 text-[12.5px] text-muted-foreground">
        <Button type="submit" variant="outline" size="sm">
          Check the link
        </Button>
        Calls the current link from this server, as an agent would.
      </form>
      {link.source === 'saved' && (
        <form method="post" action="/settings/mcp-url" className="flex flex-wrap items-center gap-2 text-[12.5px] text-muted-foreground">
          <Button type="submit" variant="outline" size="sm" name="reset" value="1">
            Forget the saved link
          </Button>
          <span className="break-all">
            Then it is {link.otherwise}
            {link.configured && ', as MCP_URL says'}.
          </span>
        </form>
      )}
    </>
  )
}
