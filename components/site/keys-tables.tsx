import type { ReactNode } from 'react'
import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { cn } from '../parts/cn.ts'
import { TextLink } from '../parts/text-link.tsx'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Table, TableCell, TableHead } from '../ui/table.tsx'

export interface KeyView {
  id: string
  name: string
  prefix: string
  scope: string
  sessionId: string | null
  made: string
  used: string
  revoked: string | undefined
}

export interface SignInView {
  id: string
  name: string
  /** This very browser's. */
  own: boolean
  verified: boolean
  reader: boolean
  made: string
  used: string
}

/** Three lists of keys: made by people and in force, made by people and revoked, and made by the server for tasks under way. */
export type KeyList = 'good' | 'revoked' | 'tasks'

const NONE: Record<KeyList, ReactNode> = {
  good: (
    <>
      There are no keys. Make one above, or on the server’s machine: <code className="font-mono">bun run key full NAME</code>
    </>
  ),
  revoked: 'No key was revoked.',
  tasks: 'No task is under way. For each, the server makes a key, which ends with it.',
}

/** The keys of one list, newest first; revoked ones are struck through. */
export const KeysTable = ({ keys, list }: { keys: KeyView[]; list: KeyList }) =>
  keys.length === 0 ? (
    <Empty>{NONE[list]}</Empty>
  ) : (
    <Listed label="Listed keys" columns={['Key', 'Made', 'Last used']}>
      {keys.map(({ id, name, prefix, scope, sessionId, made, used, revoked }) => (
        <Row key={id}>
          <Cell className="max-sm:basis-full">
            <span className={cn('font-medium wrap-anywhere', revoked && 'line-through')}>{escapeInvisible(name)}</span>{' '}
            <Badge variant="outline">{scope}</Badge>
            <p className="mt-0.5 text-[12px] text-muted-foreground">
              <code className="font-mono break-all">{prefix}…</code>
              {sessionId && (
                <>
                  {' '}
                  for <TextLink href={`/sessions/${sessionId}`}>{sessionId.slice(0, 8)}</TextLink>
                </>
              )}
            </p>
          </Cell>
          <Cell title="Made">{made}</Cell>
          <Cell title="Last used">{used}</Cell>
          <Cell className="max-sm:ml-auto sm:text-right">
            {revoked ? (
              <span className="text-muted-foreground">revoked {revoked}</span>
            ) : (
              <End action="/settings/keys/revoke" field="key_id" id={id} label={`Revoke the key ${name}`}>
                Revoke
              </End>
            )}
          </Cell>
        </Row>
      ))}
    </Listed>
  )

/** The sign-ins, the one used last first. */
export const SignInsTable = ({ signIns }: { signIns: SignInView[] }) => (
  <Listed label="Listed sign-ins" columns={['Who', 'Signed in', 'Last used']}>
    {signIns.map(({ id, name, own, verified, reader, made, used }) => (
      <Row key={id}>
        <Cell className="max-sm:basis-full">
          <span className="inline-flex flex-wrap items-center gap-1.5">
            <span className="font-medium wrap-anywhere">{escapeInvisible(name)}</span>
            {own && <Badge variant="live">this one</Badge>}
            {verified && <Badge>named</Badge>}
            {reader && <Badge variant="outline">reads only</Badge>}
          </span>
        </Cell>
        <Cell title="Signed in">{made}</Cell>
        <Cell title="Last used">{used}</Cell>
        <Cell className="max-sm:ml-auto sm:text-right">
          <End action="/settings/sign-ins/end" field="sign_in_id" id={id} label={own ? 'Sign out here' : `Sign out ${name}`}>
            Sign out
          </End>
        </Cell>
      </Row>
    ))}
  </Listed>
)

const Listed = ({ label, columns, children }: { label: string; columns: string[]; children: ReactNode }) => (
  <div className="thin-scroll mt-3 overflow-x-auto border-t" tabIndex={0} role="region" aria-label={label}>
    <Table className="max-sm:block">
      <thead className="max-sm:sr-only">
        <tr>
          {columns.map((column) => (
            <TableHead key={column}>{column}</TableHead>
          ))}
          <TableHead>
            <span className="sr-only">End</span>
          </TableHead>
        </tr>
      </thead>
      <tbody className="divide-y max-sm:block">{children}</tbody>
    </Table>
  </div>
)

// On a phone a row is a block: who, then when, then the button.
const Row = ({ children }: { children: ReactNode }) => (
  <tr className="max-sm:flex max-sm:flex-wrap max-sm:items-center max-sm:gap-x-3 max-sm:gap-y-1 max-sm:px-4 max-sm:py-2.5">{children}</tr>
)

const Cell = ({ title, className, children }: { title?: string; className?: string; children: ReactNode }) => (
  <TableCell className={cn('max-sm:px-0 max-sm:py-0', title && 'text-muted-foreground', className)}>
    {title && <span className="sm:hidden">{title} </span>}
    {children}
  </TableCell>
)

interface EndProps {
  action: string
  field: string
  id: string
  label: string
  children: string
}

const End = ({ action, field, id, label, children }: EndProps) => (
  <form method="post" action={action} className="inline-flex">
    <Button type="submit" variant="outline" size="sm" name={field} value={id} aria-label={escapeInvisible(label)} className="max-sm:h-9">
      {children}
    </Button>
  </form>
)

const Empty = ({ children }: { children: ReactNode }) => <p className="px-4 py-4 text-[13px] text-muted-foreground">{children}</p>
