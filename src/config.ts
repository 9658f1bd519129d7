// The environment variables, read once and checked before anything starts. Each is defined here and nowhere else: its default, its
// check, and the sentence that the README's table, the settings page and .env.example show.
import { z } from 'zod'

/** What LOOP_GUARD may be, and what may be saved in its place. */
export const LOOP_MODES = ['off', 'warn', 'slow'] as const
/** The highest WAKES_PER_HOUR. */
export const MOST_WAKES = 100_000

const flag = z.enum(['true', 'false', '1', '0'], 'must be true or false').transform((text) => text === 'true' || text === '1')
// In decimal digits (1e3 too): of blanks, Number makes a 0. Whatever is wrong with a number, it is told what it may be.
const number = (says: string, is: z.ZodNumber) =>
  z
    .string()
    .regex(/^\s*\+?(?:\d+\.?\d*|\.\d+)(?:e\d+)?\s*$/i, says)
    .transform(Number)
    .pipe(is)
const ABOVE_0 = 'must be a number of seconds, above 0 and at most 86400'
const seconds = number(ABOVE_0, z.number(ABOVE_0).max(86_400, ABOVE_0).positive(ABOVE_0))
const FROM_0 = 'must be a number of seconds from 0 to 86400'
const secondsOr0 = number(FROM_0, z.number(FROM_0).max(86_400, FROM_0).min(0, FROM_0))
const whole = (min: number, max: number, of = '') => {
  const says = `must be a whole number${of} from ${min} to ${max}`
  return number(says, z.number(says).max(max, says).int(says).min(min, says))
}
const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
  .refine((url) => !/["'`$\\\s]/.test(url), 'must not contain quotes, spaces or $')
// As baseOfLink (core/address.ts) takes it apart.
const mcpLink = httpUrl.refine(
  (url) => /\/mcp(\/[^/]+)?\/?$/.test(URL.parse(url)?.pathname ?? ''),
  'must be the link to MCP, whose path ends in /mcp: http://127.0.0.1:7423/mcp, for instance',
)
// In `Authorization: Bearer …` it ends at a space (bearerOf), and clients send letters beyond ASCII in one encoding or another.
const token = z
  .string()
  .min(16, 'must have at least 16 characters')
  .regex(/^[\x21-\x7e]+$/, 'must be of ASCII letters, digits and signs, without spaces')
const list = z.string().transform((text) =>
  text
    .split(',')
    .map((item) => item.trim().toLowerCase())
    .filter(Boolean),
)

// As callers send it in Host: a name in ASCII, an IPv6 address in brackets.
const hostOf = (name: string): string | undefined => {
  const isBareIpv6 = /^[^[]*:.*:/.test(name)
  return /[/*@?#\\\s]/.test(name) ? undefined : URL.parse(`http://${isBareIpv6 ? `[${name}]` : name}`)?.host
}
const hosts = list
  .refine(
    (names) => names.every(hostOf),
    'must be host names alone, comma-separated, without http:// and *: parley.example.org, for instance',
  )
  .transform((names) => names.map((name) => hostOf(name)!))

const secret = (least: number) => {
  const says = `must have at least ${least} characters, blanks at its ends not counted`
  return z.string().refine((text) => text.trim().length >= least, says)
}

const CONVENER_ACTS = ['conclude', 'metadata'] as const
const convenerActs = z
  .string()
  .transform((text) => (text.trim() === 'both' ? CONVENER_ACTS : text.split(',').map((act) => act.trim())))
  .pipe(z.array(z.enum(CONVENER_ACTS, 'must be conclude, metadata, or both (also written conclude,metadata)')))

interface Variable {
  schema: z.ZodType
  fallback?: string
  about: string
  secret?: boolean
}
const variable = <S extends z.ZodType, More extends Pick<Variable, 'fallback' | 'secret'>>(
  schema: S,
  about: string,
  more = {} as More,
) => ({ schema, about, ...more })

export const VARIABLES = {
  PORT: variable(whole(0, 65_535), 'where it listens; 0 takes any free port and prints it', { fallback: '7423' }),
  HOST: variable(z.string().min(1), 'the address it listens on; 0.0.0.0 opens it to other machines', { fallback: '127.0.0.1' }),
  DATABASE_URL: variable(
    z.string().regex(/^postgres(ql)?:\/\//, 'must begin with postgres:// or postgresql://'),
    'Postgres URL; if unset, the embedded database in DATA_DIR',
    { secret: true },
  ),
  DATA_DIR: variable(z.string().min(1), 'folder of the embedded database; one process at a time', { fallback: './data' }),
  MCP_URL: variable(
    mcpLink,
    'the link that agents are given; a link saved on the settings page comes first, then this, then the origin of the request + /mcp',
  ),
  ALLOWED_HOSTS: variable(hosts, 'additional host names the server answers to, comma-separated', { fallback: '' }),
  TRUST_PROXY: variable(flag, 'trust X-Forwarded-Proto, -Host and -For', { fallback: 'false' }),
  ACCESS_TOKEN: variable(
    token,
    'if set, every call of an agent needs it as Authorization: Bearer (or a key, or an invitation), and pages need somebody signed in',
    { secret: true },
  ),
  VIEWER_PASSWORD: variable(secret(8), 'if set, reading (pages, streams, exports, history, metrics) needs it, a sign-in, or a key', {
    secret: true,
  }),
  OPERATOR_KEY: variable(secret(16), 'signs a person in; if unset, made at the first start and printed as a link', { secret: true }),
  CONVENER_ONLY: variable(
    convenerActs,
    'what only the convener and signed-in people may do: conclude, metadata, or both (also written conclude,metadata)',
  ),
  ONE_SESSION_PER_TEAM: variable(flag, 'refuse to join while a team of that name is active, asleep or idle in another session', {
    fallback: 'false',
  }),
  METADATA_MIN_INTERVAL: variable(secondsOr0, "minimum seconds between changes of a session's title or description", { fallback: '0' }),
  RATE_LIMIT: variable(
    whole(0, 1_000_000),
    'requests per minute for each token (or address without one; over REST a token counts in X-Team-ID alone); an address in total gets twenty times as many; 0: no limit',
    { fallback: '0' },
  ),
  LOOP_GUARD: variable(
    z.enum(LOOP_MODES, 'must be off, warn or slow'),
    'what to do about teams that repeat themselves: off; warn marks the session "needs a person"; slow also refuses repeats for a minute; what is saved on the settings page comes first',
    { fallback: 'warn' },
  ),
  WAKES_PER_HOUR: variable(
    whole(0, MOST_WAKES),
    'teams that messages may wake in a session within an hour without a word from a person; then only what is addressed to a team, or said by a person, wakes it; what is saved on the settings page comes first',
    { fallback: '30' },
  ),
  NOTIFY_URL: variable(
    z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' }),
    'where people are told that they are needed: each time one JSON POST { kind, session_id, title, url, text }',
    { secret: true },
  ),
  IDLE_AFTER: variable(seconds, 'seconds without a poll before a team is shown as idle (or asleep, while a message would wake it)', {
    fallback: '10',
  }),
  DISCONNECTED_AFTER: variable(seconds, 'seconds without a poll before a team is shown as disconnected', { fallback: '60' }),
  IDLE_LIMIT: variable(whole(1, 1_000), 'empty waits after which an agent tells its user that the session is idle', { fallback: '10' }),
  MAX_WAITS: variable(whole(1, 1_000_000), 'waits held at the same time, in all sessions together', { fallback: '20000' }),
  MAX_STREAMS: variable(whole(1, 1_000_000), 'event streams open at the same time', { fallback: '10000' }),
  MAX_WAITS_PER_ADDRESS: variable(whole(0, 1_000_000), 'waits that one address may hold at the same time; 0: no limit', {
    fallback: '0',
  }),
  MAX_STREAMS_PER_ADDRESS: variable(whole(0, 1_000_000), 'event streams that one address may have open; 0: no limit', { fallback: '0' }),
  MAX_TRACE_BYTES: variable(whole(1, Number.MAX_SAFE_INTEGER), 'largest transcript POST /api/traces accepts, in bytes', {
    fallback: String(4 * 1024 ** 3),
  }),
  TASK_TIMEOUT: variable(seconds, 'seconds that a task of a driven agent may take', { fallback: '3600' }),
  PERMISSION_WAIT: variable(seconds, 'seconds that a driven agent waits for a person’s permission; then it is denied', {
    fallback: '300',
  }),
  PROPOSAL_EXPIRES_AFTER: variable(
    whole(1, 604_800, ' of seconds'),
    'seconds that a proposal waits for a person; then it is expired, and a person can bring it back',
    { fallback: '86400' },
  ),
  CLAIM_LEASE: variable(whole(1, 86_400, ' of seconds'), 'seconds without a call of its team after which a claim on the board ends', {
    fallback: '1800',
  }),
  SELF_RAISE: variable(
    z.enum(['propose', 'allow'], 'must be propose or allow'),
    'whether a driven agent may raise its own permissions: propose asks a person, allow lets it, as far as its runner allows',
    { fallback: 'propose' },
  ),
  ANTHROPIC_API_KEY: variable(
    z.string().regex(/^[\x21-\x7e]+$/, 'must be one line without spaces'),
    'if set, get_messages with summarize: true has a model write the summary; otherwise an extract is made here',
    { secret: true },
  ),
  ANTHROPIC_BASE_URL: variable(httpUrl, 'where that model is asked, if not at https://api.anthropic.com'),
  SUMMARY_MODEL: variable(z.string().max(200, 'must have at most 200 characters'), 'which model writes summaries', {
    fallback: 'claude-sonnet-4-5',
  }),
  LOG_LEVEL: variable(
    z.enum(['debug', 'info', 'warn', 'error', 'silent'], 'must be debug, info, warn, error or silent'),
    'debug (logs each call as well), info, warn, error or silent',
    { fallback: 'info' },
  ),
} satisfies Record<string, Variable>

export type VariableName = keyof typeof VARIABLES
type Value<Name extends VariableName> = z.output<(typeof VARIABLES)[Name]['schema']>
type Defaulted = { [Name in VariableName]: (typeof VARIABLES)[Name] extends { fallback: string } ? Name : never }[VariableName]
export type Config = { [Name in VariableName]: Value<Name> | undefined } & { [Name in Defaulted]: Value<Name> } & {
  /** The variables that the environment sets, even if to their default. */
  given: ReadonlySet<VariableName>
}

export class BadConfig extends Error {}

/** Reads the variables from an environment. An empty value counts as unset. Throws BadConfig, whose message names every bad variable. */
export const readConfig = (environment: Record<string, string | undefined>): Config => {
  const wrong: string[] = []
  const entries = Object.entries(VARIABLES as Record<string, Variable>).map(([name, { schema, fallback }]) => {
    const text = environment[name] || fallback
    if (text === undefined) return [name, undefined]
    const parsed = schema.safeParse(text)
    if (!parsed.success) wrong.push(`${name}: ${parsed.error.issues[0]!.message}`)
    return [name, parsed.data]
  })
  const given = new Set(Object.keys(VARIABLES).filter((name) => environment[name])) as Set<VariableName>
  const config = { ...Object.fromEntries(entries), given } as Config
  if (wrong.length === 0) wrong.push(...together(config))
  if (wrong.length > 0)
    throw new BadConfig(
      `Parley cannot start with this configuration:\n${wrong.map((line) => `  ${line}`).join('\n')}\nCorrect the environment (or .env) and start again.`,
    )
  return config
}

// What is wrong with variables that are good each by itself.
const together = (config: Config): string[] => {
  const wrong: string[] = []
  if (config.DISCONNECTED_AFTER < config.IDLE_AFTER) wrong.push('DISCONNECTED_AFTER: must not be shorter than IDLE_AFTER')
  for (const name of ['ACCESS_TOKEN', 'VIEWER_PASSWORD'] as const)
    if (config.OPERATOR_KEY !== undefined && config[name] === config.OPERATOR_KEY)
      wrong.push(`${name}: must be another one than OPERATOR_KEY, by which whoever has it would sign in as a person who decides`)
  return wrong
}
