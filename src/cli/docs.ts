// The parts of the documentation that follow from the code: written by `bun run docs`, compared by the tests.
import { VARIABLES } from '../config.ts'
import type { ServedOp } from '../operations/context.ts'
import { inputSchema } from '../doors/rest/json-schema.ts'

/** The table of tools in AGENTS.md, with the REST form of each. */
export const toolTable = (operations: readonly ServedOp[]): string => {
  const rows = operations.map(
    (operation) =>
      `| \`${operation.name}\` | \`${operation.route[0]} /api${operation.route[1].replace(':session_id', '$SID')}\` | ${argumentsOf(operation)} | ${operation.summary} |`,
  )
  return ['| tool | REST | arguments (? = optional) | what for |', '| --- | --- | --- | --- |', ...rows].join('\n')
}

const CARRIED = new Set(['session_id', 'team_id', 'idempotency_key'])

const argumentsOf = ({ input }: ServedOp): string => {
  const { properties, required = [] } = inputSchema(input)
  const own = Object.keys(properties).filter((name) => !CARRIED.has(name))
  return own.map((name) => `\`${name}\`${required.includes(name) ? '' : '?'}`).join(', ') || '–'
}

/** A curl line for each tool, built on the variables that AGENTS.md sets before them. */
export const curlLines = (operations: readonly ServedOp[]): string =>
  ['```sh', ...operations.toSorted(inOrder).map(curlLine), '```'].join('\n')

// Pasted one after the other, each works: nothing is read before it is written, and leaving comes last.
const ORDER = [
  'create_session',
  'join_session',
  'list_participants',
  'get_session',
  'post_message',
  'peek',
  'catch_up',
  'wait_for_messages',
  'wait_for_any',
  'get_history',
  'ack_messages',
  'append_to_session_doc',
  'read_session_doc',
  'update_session_doc',
  'update_session_metadata',
  'conclude_session',
  'reopen_session',
  'transfer_convener',
  'leave_session',
]
const inOrder = (a: ServedOp, b: ServedOp) => placeOf(a) - placeOf(b)

const placeOf = ({ name }: ServedOp): number => {
  const place = ORDER.indexOf(name)
  if (place < 0) throw new Error(`${name} has no place among the lines of AGENTS.md: ORDER, src/cli/docs.ts`)
  return place
}

const curlLine = ({ name, route: [method, path], access, held, example = {} }: ServedOp): string => {
  const token = access === 'open' ? '' : ' -H "X-Team-ID: $TEAM_ID"'
  const query = method === 'GET' ? Object.entries(example).map(([field, value]) => `${field}=${String(value)}`) : []
  const url = `"$BASE/api${path.replace(':session_id', '$SID')}${query.length > 0 ? `?${query.join('&')}` : ''}"`
  const body = method === 'POST' ? ` -d '${inQuotes(JSON.stringify(example))}'` : ''
  return `curl -s${held ? ' -m 40' : ''}${token} ${url}${body}   # ${name}`
}

// Between a shell's single quotes, which end for each of their own kind and around each variable.
const inQuotes = (text: string) => text.replaceAll("'", "'\\''").replace(/\$[A-Z_]+/g, `'"$&"'`)

const cell = (text: string) => text.replaceAll('|', '\\|')

/** The README's table of the environment's variables. */
export const variableTable = (): string => {
  const rows = Object.entries(VARIABLES).map(
    ([name, { about, ...more }]) =>
      `| \`${name}\` | ${'fallback' in more && more.fallback ? `\`${more.fallback}\`` : '–'} | ${cell(about)} |`,
  )
  return ['| variable | default | meaning |', '| --- | --- | --- |', ...rows].join('\n')
}

/** .env.example: every variable, commented out at its default. */
export const environmentExample = (): string => {
  const lines = Object.entries(VARIABLES).map(
    ([name, { about, ...more }]) => `# ${about}\n#${name}=${'fallback' in more ? more.fallback : ''}\n`,
  )
  return `# Copy to .env (or .env.local) and uncomment what you want to change. Nothing here is required.\n\n${lines.join('\n')}`
}

/** Puts `text` between the markers `<!-- name -->` and `<!-- /name -->`. */
export const between = (document: string, name: string, text: string): string => {
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const [from, to] = [document.indexOf(open), document.indexOf(close)]
  if (from < 0 || to < 0) throw new Error(`the document has no ${open} … ${close}`)
  return `${document.slice(0, from + open.length)}\n${text}\n${document.slice(to)}`
}
