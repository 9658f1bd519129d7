// Generates the parts of the documentation that follow from the code. `bun run docs` writes them, and a test compares them.
import { VARIABLES } from '../../src/config.ts'
import type { EventKind } from '../../src/core/events/event-kinds.ts'
import type { ServedOp } from '../../src/operations/context.ts'
import { isOpen } from '../../src/operations/operation.ts'
import type { Guide } from '../../src/operations/toolset.ts'

/** The pages beside AGENTS.md, a line each. */
export const guideList = (guides: readonly Guide[]): string =>
  guides.map(({ name, about }) => `- [${name}.md](http://127.0.0.1:7423/AGENTS/${name}.md): ${about}`).join('\n')

/** The table of system events. */
export const eventTable = (kinds: readonly EventKind[]): string => {
  const rows = kinds.map(({ name, summary, fields }) => {
    const named = Object.entries(fields).map(([field, says]) => `\`${field}\` (${says})`)
    return `| \`${name}\` | ${summary} | ${named.join(', ')} |`
  })
  return ['| event | what happened | fields |', '| --- | --- | --- |', ...rows].join('\n')
}

/** A curl line for each tool, built on the variables that the page sets before them. In the toolset's order each works, pasted one after
 *  the other: nothing is read before it is written, and leaving comes last. */
export const curlLines = (operations: readonly ServedOp[]): string => ['```sh', ...operations.map(curlLine), '```'].join('\n')

const curlLine = (operation: ServedOp): string => {
  const { name, held, example = {} } = operation
  const [method, path] = operation.route
  const token = isOpen(operation) ? '' : ` -H ${operation.callers.some(({ kind }) => kind === 'team') ? TEAM : KEY}`
  const query = method === 'GET' ? Object.entries(example).map(([field, value]) => `${field}=${String(value)}`) : []
  const url = `"$BASE/api${path.replace(':session_id', '$SID').replace(/:(\w+)_id/g, (_, what: string) => `$${what.toUpperCase()}`)}${query.length > 0 ? `?${query.join('&')}` : ''}"`
  const body = method === 'POST' ? ` -d '${inQuotes(JSON.stringify(example))}'` : ''
  return `curl -sS --fail-with-body${held ? ' -m 40' : ''}${token} ${url}${body}   # ${name}`
}

const TEAM = '"X-Team-ID: ${TEAM_ID:?}"'
const KEY = '"${AUTH:?}"'

// For a shell's single quotes: they are closed around each single quote and each variable. Without a TEAM_ID the line stops.
const inQuotes = (text: string) =>
  text.replaceAll("'", "'\\''").replace(/\$[A-Z_]+/g, (name) => `'"${name === '$TEAM_ID' ? '${TEAM_ID:?}' : name}"'`)

const cell = (text: string) => text.replaceAll('|', '\\|')

// What somebody needs who puts a server where others reach it stands first in VARIABLES, and is seen without unfolding the rest.
const SEEN_AT_ONCE = 8

/** The README's tables of the environment's variables: the first eight, and the rest folded. */
export const variableTable = (): string => {
  const rows = Object.entries(VARIABLES).map(
    ([name, { about, ...more }]) =>
      `| \`${name}\` | ${'fallback' in more && more.fallback ? `\`${more.fallback}\`` : '–'} | ${cell(about)} |`,
  )
  const [first, rest] = [rows.slice(0, SEEN_AT_ONCE), rows.slice(SEEN_AT_ONCE)]
  const table = (some: string[]) => ['| variable | default | meaning |', '| --- | --- | --- |', ...some].join('\n')
  return [table(first), `<details>\n<summary>The other ${rest.length}</summary>`, table(rest), '</details>'].join('\n\n')
}

const ENVIRONMENT_HEAD = `# Copy to .env (or .env.local) and uncomment what you want to change. Nothing here is required.
# Bun takes $NAME within a value for a variable, in quotes too: write \\$ for $. A # outside quotes ends the value: put it into double quotes.
# In DATABASE_URL write %24 for $ and %23 for #.
`

/** .env.example: every variable, commented out at its default. */
export const environmentExample = (): string => {
  const lines = Object.entries(VARIABLES).map(
    ([name, { about, ...more }]) => `# ${about}\n#${name}=${'fallback' in more ? more.fallback : ''}\n`,
  )
  return `${ENVIRONMENT_HEAD}\n${lines.join('\n')}`
}

/** Puts `text` between the markers `<!-- name -->` and `<!-- /name -->`. */
export const between = (document: string, name: string, text: string): string => {
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const [from, to] = [document.indexOf(open), document.indexOf(close)]
  if (from < 0 || to < 0) throw new Error(`the document has no ${open} … ${close}`)
  return `${document.slice(0, from + open.length)}\n${text}\n${document.slice(to)}`
}
