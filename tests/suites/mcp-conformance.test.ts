// The official conformance suite, for the newest revision and the one before it: against a real server process, and against the wing that some
// of its scenarios call (tests/support/suite-wing.ts).
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rooms } from '../../src/rooms/toolset.ts'
import { startParley, type Parley } from '../support/parley.ts'
import { serveSite, type Site } from '../support/site.ts'
import { BEAT_MS, suiteWing } from '../support/suite-wing.ts'

const SUITE = Bun.resolveSync('@modelcontextprotocol/conformance/dist/index.js', import.meta.dir)
const SCENARIO_MS = '90000' // for what hangs
const REVISIONS = ['2025-11-25', '2026-07-28'] as const
type Revision = (typeof REVISIONS)[number]

const ANYWHERE = ['tools-list', 'resources-list', 'prompts-list', 'dns-rebinding-protection']
/** Run against the server as it is. */
const AS_IT_IS: Record<Revision, string[]> = {
  '2025-11-25': [...ANYWHERE, 'server-initialize', 'ping'],
  '2026-07-28': [
    ...ANYWHERE,
    'caching',
    'http-header-validation',
    'sep-2164-resource-not-found',
    'server-sse-multiple-streams',
    'input-required-result-unsupported-methods',
  ],
}

const BY_NAME = [
  'completion-complete',
  'tools-call-simple-text',
  'tools-call-error',
  'tools-call-with-progress',
  'resources-read-text',
  'resources-templates-read',
  'prompts-get-simple',
  'prompts-get-with-args',
]
/** Run against the wing: they call tools, prompts and resources of these names. */
const ON_THE_WING: Record<Revision, string[]> = {
  '2025-11-25': BY_NAME,
  '2026-07-28': [...BY_NAME, 'server-stateless'],
}

const ASKS_NOTHING = 'The server asks nothing of its client.'
const JSON_ALONE = 'A tool answers with JSON, as text and as data.'
const TEXT_ALONE = 'Resources and prompts are text.'
const ANSWERS_ALONE = 'Nobody hears of anything but the answer to a request.'
const NO_SESSIONS = 'Each request stands for itself: there is no session at the protocol.'
const PLAIN_SCHEMAS = 'Arguments are plain objects of known fields, since some clients refuse more, and none is a header.'

const IN_BOTH = {
  [JSON_ALONE]: ['tools-call-image', 'tools-call-audio', 'tools-call-embedded-resource', 'tools-call-mixed-content'],
  [TEXT_ALONE]: ['resources-read-binary', 'prompts-get-embedded-resource', 'prompts-get-with-image'],
}

/** The rest of the suite, and why it does not apply. */
const LEFT_OUT: Record<Revision, Record<string, string[]>> = {
  '2025-11-25': {
    ...IN_BOTH,
    [ASKS_NOTHING]: ['tools-call-sampling', 'tools-call-elicitation', 'elicitation-sep1034-defaults', 'elicitation-sep1330-enums'],
    [ANSWERS_ALONE]: ['logging-set-level', 'tools-call-with-logging', 'resources-subscribe', 'resources-unsubscribe'],
    [NO_SESSIONS]: ['server-session-lifecycle', 'server-sse-polling', 'server-sse-multiple-streams'],
    [PLAIN_SCHEMAS]: ['json-schema-2020-12'],
  },
  '2026-07-28': {
    ...IN_BOTH,
    [ASKS_NOTHING]: [
      'basic-elicitation',
      'basic-sampling',
      'basic-list-roots',
      'request-state',
      'multiple-input-requests',
      'multi-round',
      'missing-input-response',
      'non-tool-request',
      'result-type',
      'tampered-state',
      'capability-check',
      'ignore-extra-params',
      'validate-input',
    ].map((name) => `input-required-result-${name}`),
    [PLAIN_SCHEMAS]: ['json-schema-2020-12', 'http-custom-header-server-validation'],
  },
}

/** Green at a server that has not even the tool that it calls: suite 0.2.0-alpha.12 takes any error for a good one. */
const CHECKS_NOTHING = ['input-required-result-validate-input']

/** Checks that are skipped in a scenario that counts: the server announces no changes that it would tell of in subscriptions/listen. */
const SKIPPED: Record<string, string[]> = {
  'server-stateless': [
    'sep-2575-server-sends-subscription-ack',
    'sep-2575-server-tags-subscription-id',
    'sep-2575-server-honors-notification-filter',
    'sep-2575-server-sends-prompts-list-changed-on-subscription',
    'sep-2575-server-sends-tools-list-changed-on-subscription',
  ],
}

interface Check {
  id: string
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO'
  errorMessage?: string
}
type Results = Map<string, Check[]>

let server: Site
let parley: Parley
let wing: ReturnType<typeof Bun.serve>
let folder: string
const asItIs = {} as Record<Revision, Results>
const onTheWing = {} as Record<Revision, Results>
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-conformance-'))
  ;[server, parley] = await Promise.all([serveSite(), startParley()])
  const { app } = await parley.beside({}, { toolsets: [rooms, suiteWing], progressMs: BEAT_MS })
  wing = Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 60, fetch: (request) => app.fetch(request, {}) })
  const body = JSON.stringify({ title: 'Shipping the parser', description: '', creator_team_name: 'Alex' })
  await fetch(`${server.url}/api/sessions`, { method: 'POST', body }) // for scenarios that read the first resource of the list
  await Promise.all(REVISIONS.map(runBoth))
}, 360_000)
afterAll(async () => {
  await wing?.stop(true)
  await parley?.close()
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
}, 180_000)

const runBoth = async (revision: Revision) => {
  asItIs[revision] = await run(`${server.url}/mcp`, revision)
  onTheWing[revision] = await run(`http://127.0.0.1:${wing.port}/mcp/suite`, revision)
}

/** All scenarios of a revision, and what each checked. */
const run = async (url: string, revision: Revision): Promise<Results> => {
  const results = mkdtempSync(join(folder, revision))
  const args = [
    SUITE,
    'server',
    '--url',
    url,
    '--suite',
    'all',
    '--spec-version',
    revision,
    '--output-dir',
    results,
    '--timeout',
    SCENARIO_MS,
  ]
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], timeout: 170_000 })
  const printed: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => printed.push(chunk.toString()))
  await new Promise((resolve) => child.once('close', resolve))
  const began = [...printed.join('').matchAll(/^=== Running scenario: (\S+) ===$/gm)].map(([, name]) => name!)
  const found = readdirSync(results)
  const checksOf = async (name: string): Promise<Check[]> => {
    const place = found.find((one) => new RegExp(`^server-${name}-\\d{4}-`).test(one))
    if (!place) throw new Error(`Scenario ${name} left no checks:\n${printed.join('')}`)
    return Bun.file(join(results, place, 'checks.json')).json()
  }
  return new Map(await Promise.all(began.map(async (name) => [name, await checksOf(name)] as const)))
}

const idsOf = (checks: Check[], status: Check['status']) => checks.filter((check) => check.status === status).map(({ id }) => id)
// Every scenario also compares what went over the wire with the schema, which says nothing of the scenario's own matter.
const succeeded = (checks: Check[]) => idsOf(checks, 'SUCCESS').filter((id) => id !== 'wire-schema-valid')
const wrong = (checks: Check[]) => checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING')

const passes = (name: string, checks: Check[] = []) => {
  expect(wrong(checks)).toEqual([])
  expect(succeeded(checks)).not.toBeEmpty()
  expect(idsOf(checks, 'SKIPPED')).toEqual(SKIPPED[name] ?? [])
}

describe.each([...REVISIONS])('revision %s', (revision) => {
  const leftOut = Object.values(LEFT_OUT[revision]).flat()

  test.each(AS_IT_IS[revision])('the server passes %s', (name) => passes(name, asItIs[revision].get(name)))

  test.each(ON_THE_WING[revision])('the door passes %s with the tools that it calls', (name) => passes(name, onTheWing[revision].get(name)))

  test('every other scenario of the suite is left out for a reason, and each still has it', () => {
    expect([...onTheWing[revision].keys()].toSorted()).toEqual([...AS_IT_IS[revision], ...ON_THE_WING[revision], ...leftOut].toSorted())
    const passed = leftOut.filter((name) => {
      const checks = onTheWing[revision].get(name)!
      return wrong(checks).length === 0 && succeeded(checks).length > 0
    })
    expect(passed).toEqual(CHECKS_NOTHING.filter((name) => leftOut.includes(name)))
  })
})
