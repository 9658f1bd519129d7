import { describe, expect, test } from 'bun:test'
import { BadConfig, readConfig, VARIABLES } from '../../src/config.ts'

const wrong = (environment: Record<string, string>): string => {
  try {
    readConfig(environment)
    return 'it was taken'
  } catch (error) {
    expect(error).toBeInstanceOf(BadConfig)
    return (error as Error).message
  }
}

describe('the configuration', () => {
  test('without an environment every variable has its default', () => {
    expect(readConfig({})).toMatchObject({
      PORT: 7423,
      HOST: '127.0.0.1',
      DATABASE_URL: undefined,
      DATA_DIR: './data',
      MCP_URL: undefined,
      ALLOWED_HOSTS: [],
      TRUST_PROXY: false,
      ACCESS_TOKEN: undefined,
      VIEWER_PASSWORD: undefined,
      CONVENER_ONLY: undefined,
      ONE_SESSION_PER_TEAM: false,
      METADATA_MIN_INTERVAL: 0,
      RATE_LIMIT: 0,
      IDLE_AFTER: 10,
      DISCONNECTED_AFTER: 60,
      IDLE_LIMIT: 10,
      MAX_WAITS: 20_000,
      MAX_STREAMS: 10_000,
      MAX_WAITS_PER_ADDRESS: 0,
      MAX_STREAMS_PER_ADDRESS: 0,
      LOG_LEVEL: 'info',
    })
  })

  test('an empty value is an unset one', () => {
    expect(readConfig({ PORT: '', MCP_URL: '', CONVENER_ONLY: '' })).toEqual(readConfig({}))
  })

  test.each([
    ['PORT', 'http'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '1.5'],
    ['PORT', ' '],
    ['PORT', '0x10'],
    ['PORT', '1_000'],
    ['RATE_LIMIT', ' '],
    ['METADATA_MIN_INTERVAL', ' '],
    ['METADATA_MIN_INTERVAL', '.'],
    ['DATABASE_URL', 'mysql://x'],
    ['MCP_URL', 'parley.example/mcp'],
    ['MCP_URL', 'ftp://parley.example'],
    ['MCP_URL', 'http://x/$(id)'],
    ['MCP_URL', 'http://127.0.0.1:7423'],
    ['MCP_URL', 'https://parley.example/mcp-of-others'],
    ['ALLOWED_HOSTS', 'https://parley.example'],
    ['ALLOWED_HOSTS', 'parley.example,*'],
    ['ALLOWED_HOSTS', 'one.example two.example'],
    ['ALLOWED_HOSTS', 'parley.example:99999'],
    ['ALLOWED_HOSTS', '[fe80::1'],
    ['ALLOWED_HOSTS', 'parley.example?'],
    ['TRUST_PROXY', 'yes'],
    ['ACCESS_TOKEN', 'spaces-at-the-end '],
    ['ACCESS_TOKEN', 'spaces inside end it in the header'],
    ['ACCESS_TOKEN', 'über-sechzehn-zeichen'],
    ['ACCESS_TOKEN', 'short'],
    ['VIEWER_PASSWORD', 'short'],
    ['VIEWER_PASSWORD', ' '.repeat(8)],
    ['OPERATOR_KEY', 'short'],
    ['OPERATOR_KEY', ' '.repeat(16)],
    ['OPERATOR_KEY', ' fifteen letters '],
    ['CONVENER_ONLY', 'all'],
    ['CONVENER_ONLY', 'conclude,rename'],
    ['CONVENER_ONLY', 'conclude,'],
    ['CONVENER_ONLY', 'both,conclude'],
    ['ONE_SESSION_PER_TEAM', 'maybe'],
    ['METADATA_MIN_INTERVAL', '-1'],
    ['RATE_LIMIT', 'many'],
    ['IDLE_AFTER', '0'],
    ['DISCONNECTED_AFTER', 'never'],
    ['IDLE_LIMIT', '0'],
    ['MAX_WAITS', '0'],
    ['MAX_STREAMS', '0'],
    ['MAX_WAITS_PER_ADDRESS', '-1'],
    ['MAX_STREAMS_PER_ADDRESS', '1.5'],
    ['LOG_LEVEL', 'loud'],
  ])('%s=%s stops the start with a sentence that names it', (name, value) => {
    expect(wrong({ [name]: value })).toContain(`${name}: `)
  })

  test.each([
    'http://127.0.0.1:7423/mcp',
    'https://parley.example/team/mcp?toolsets=rooms,control',
    'https://parley.example/api/mcp',
    'https://parley.example/mcp/history',
  ])('MCP_URL=%s is a link to MCP', (MCP_URL) => {
    expect(readConfig({ MCP_URL }).MCP_URL).toBe(MCP_URL)
  })

  test('a number that is none is told what it may be', () => {
    expect(wrong({ PORT: 'eighty', MAX_STREAMS: '1.5' })).toMatch(
      /PORT: must be a whole number from 0 to 65535\n  MAX_STREAMS: must be a whole number from 1 to 1000000\n/,
    )
    const seconds = 'IDLE_AFTER: must be a number of seconds, above 0 and at most 86400\n'
    for (const IDLE_AFTER of ['soon', '0', '-5', '100000']) expect(wrong({ IDLE_AFTER })).toContain(seconds)
    const expiry = 'PROPOSAL_EXPIRES_AFTER: must be a whole number of seconds from 1 to 604800\n'
    for (const PROPOSAL_EXPIRES_AFTER of ['soon', '0', '604801']) expect(wrong({ PROPOSAL_EXPIRES_AFTER })).toContain(expiry)
    expect(readConfig({ PROPOSAL_EXPIRES_AFTER: '604800' }).PROPOSAL_EXPIRES_AFTER).toBe(604_800)
    expect(wrong({ CLAIM_LEASE: 'long' })).toContain('CLAIM_LEASE: must be a whole number of seconds from 1 to 86400\n')
  })

  test.each(Object.keys(VARIABLES))('whatever is wrong with %s, it is told what it must be, in words', (name) => {
    for (const value of ['letters', ' ', '0', '-5', '1.5', '9'.repeat(20), 'NaN', 'Infinity', 'x'.repeat(1000)]) {
      const message = wrong({ [name]: value })
      if (message === 'it was taken') continue
      expect([value, message]).toEqual([value, expect.stringMatching(/^ {2}[A-Z_]+: must (not )?(be|begin|contain|have) /m)])
      expect([value, message]).toEqual([value, expect.not.stringMatching(/expected|received|NaN|invalid|undefined/i)])
    }
  })

  test('all that is wrong is named at once, and no secret is repeated', () => {
    const message = wrong({ PORT: 'x', LOG_LEVEL: 'y', ACCESS_TOKEN: 'hunter2', DATABASE_URL: 'mysql://me:hunter2@x' })
    for (const name of ['PORT', 'LOG_LEVEL', 'ACCESS_TOKEN', 'DATABASE_URL']) expect(message).toContain(name)
    expect(message).not.toContain('hunter2')
  })

  test('a team cannot be disconnected before it is idle', () => {
    expect(wrong({ IDLE_AFTER: '61' })).toContain('DISCONNECTED_AFTER')
    expect(wrong({ IDLE_AFTER: '30', DISCONNECTED_AFTER: '20' })).toContain('DISCONNECTED_AFTER')
  })

  test('what everybody is given signs nobody in as a person', () => {
    const OPERATOR_KEY = 'a-key-of-some-length'
    for (const name of ['ACCESS_TOKEN', 'VIEWER_PASSWORD']) {
      expect(wrong({ OPERATOR_KEY, [name]: OPERATOR_KEY })).toContain(`${name}: must be another one than OPERATOR_KEY`)
      expect(wrong({ [name]: OPERATOR_KEY })).toBe('it was taken')
    }
  })

  test('flags, lists and numbers are read as what they are', () => {
    expect(
      readConfig({
        PORT: ' 80 ',
        TRUST_PROXY: '1',
        ALLOWED_HOSTS: ' A.example, b.example:81 ,',
        METADATA_MIN_INTERVAL: '.5',
        RATE_LIMIT: '1e3',
      }),
    ).toMatchObject({
      PORT: 80,
      RATE_LIMIT: 1_000,
      TRUST_PROXY: true,
      ALLOWED_HOSTS: ['a.example', 'b.example:81'],
      METADATA_MIN_INTERVAL: 0.5,
    })
  })

  test('names of ALLOWED_HOSTS are those that callers send: an IPv6 address in brackets and in its one spelling, letters beyond ASCII as xn--', () => {
    const ALLOWED_HOSTS = 'fe80::1,[FE80:0::2]:7423,münchen.example,10.0.0.1'
    expect(readConfig({ ALLOWED_HOSTS }).ALLOWED_HOSTS).toEqual(['[fe80::1]', '[fe80::2]:7423', 'xn--mnchen-3ya.example', '10.0.0.1'])
  })

  test.each([
    ['conclude', ['conclude']],
    ['metadata', ['metadata']],
    ['both', ['conclude', 'metadata']],
    ['conclude,metadata', ['conclude', 'metadata']],
    [' metadata , conclude ', ['metadata', 'conclude']],
  ] as const)('CONVENER_ONLY=%s keeps for the convener: %j', (text, acts) => {
    expect(readConfig({ CONVENER_ONLY: text }).CONVENER_ONLY).toEqual([...acts])
  })

  test('a bad CONVENER_ONLY names the choices', () => {
    expect(wrong({ CONVENER_ONLY: 'all' })).toContain('CONVENER_ONLY: must be conclude, metadata, or both')
  })

  test('every variable says what it means', () => {
    for (const [name, { about }] of Object.entries(VARIABLES)) expect(about.length, name).toBeGreaterThan(10)
  })
})
