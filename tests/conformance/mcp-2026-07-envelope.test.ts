import { describe, expect } from 'bun:test'
import { z } from 'zod'
import { anyone } from '../../src/operations/callers.ts'
import type { Context } from '../../src/operations/context.ts'
import { operationsOf } from '../../src/operations/operation.ts'
import { rooms } from '../../src/rooms/toolset.ts'
import { test } from '../support/foreign.ts'
import { onOneEngine, room, viaRest } from '../support/parley.ts'
import { CAPABILITIES, CREATE, ENVELOPE, perRequestOf, REVISION, sendPerRequest, VERSION, without } from '../support/per-request.ts'

onOneEngine((parley) => {
  const { resultOf, refusalOf } = perRequestOf(parley)

  describe('the headers', () => {
    const NAMES = ['mcp-protocol-version', 'mcp-method', 'mcp-name']

    test.each(NAMES)('%s must be there and say what the body says, or nothing is done (-32020)', async (name) => {
      for (const value of [null, '', 'something else', CREATE.name.toUpperCase()])
        expect(await refusalOf('tools/call', CREATE, { headers: { [name]: value } }), String(value)).toMatchObject({
          status: 400,
          code: -32020,
          message: expect.stringMatching(new RegExp(`^The header ${name} `, 'i')),
        })
    })

    test('an older revision in the header beside this one in the body is a mismatch, and the other way round', async () => {
      expect(await refusalOf('tools/list', {}, { headers: { 'mcp-protocol-version': '2025-11-25' } })).toMatchObject({ code: -32020 })
      const meta = { ...ENVELOPE, [VERSION]: '2025-11-25' }
      expect(await refusalOf('tools/list', {}, { meta })).toMatchObject({ status: 400, code: -32020 })
    })

    test('Mcp-Name names the tool, the prompt or the resource, and stands for nothing else', async () => {
      const { id } = await room(viaRest(parley()))
      const uri = `parley://sessions/${id}/doc`
      const headers = { 'mcp-name': 'other' }
      expect(await refusalOf('resources/read', { uri }, { headers })).toMatchObject({ status: 400, code: -32020 })
      expect(await refusalOf('prompts/get', { name: 'join' }, { headers })).toMatchObject({ status: 400, code: -32020 })
      await resultOf('tools/list', {}, { headers })
    })

    test('a name may be encoded, and what cannot be decoded is a mismatch', async () => {
      const encoded = (text: string) => ({ headers: { 'mcp-name': `=?base64?${text}?=` } })
      const name = Buffer.from('list_sessions').toString('base64') // ends with padding
      const params = { name: 'list_sessions', arguments: {} }
      const path = '/mcp/history'
      expect(name).toEndWith('=')
      await resultOf('tools/call', params, { ...encoded(name), path })
      for (const wrong of [name.replace(/=+$/, ''), `${name}!`, '////', Buffer.from('open').toString('base64')])
        expect(await refusalOf('tools/call', params, { ...encoded(wrong), path }), wrong).toMatchObject({ status: 400, code: -32020 })
      const unknown = 'größer' // no such tool, but the header says what the body says
      const error = await refusalOf('tools/call', { name: unknown }, encoded(Buffer.from(unknown).toString('base64')))
      expect(error).toMatchObject({ status: 200, code: -32602 })
    })
  })

  describe('the envelope', () => {
    test('without it, or a part of it, nothing is done (-32602)', async () => {
      for (const meta of [null, {}, without(VERSION), without(CAPABILITIES), { ...ENVELOPE, [CAPABILITIES]: [] }]) {
        const { status, code, message } = await refusalOf('tools/call', CREATE, { meta })
        expect([status, code], JSON.stringify(meta)).toEqual([400, -32602])
        expect(message).toMatch(/_meta/)
      }
    })

    test('a revision that we do not speak is told which ones we do (-32022)', async () => {
      for (const requested of ['2027-01-01', 'v999.0.0']) {
        const told = { status: 400, code: -32022, data: { supported: expect.arrayContaining([REVISION, '2025-11-25']), requested } }
        const sent = { headers: { 'mcp-protocol-version': requested } }
        expect(await refusalOf('tools/list', {}, { ...sent, meta: { ...ENVELOPE, [VERSION]: requested } })).toMatchObject(told)
        expect(await refusalOf('tools/list', {}, { ...sent, meta: null })).toMatchObject(told)
      }
    })

    test('a tool that needs something of the client refuses one that does not declare it (-32021)', async () => {
      const { op } = operationsOf<Context>('asking')
      const ask = op({
        name: 'ask',
        summary: 'An operation that needs a client which can ask its person.',
        route: ['POST', '/asking/ask'],
        callers: [anyone],
        effect: 'read',
        clientCapabilities: ['elicitation'],
        input: z.strictObject({}),
        output: z.object({ asked: z.boolean() }),
        refuses: [],
        run: async () => ({ asked: true }),
      })
      const served = await parley().beside({}, { toolsets: [rooms, { name: 'asking', instructions: '', operations: [ask] }] })
      const asking = async (capabilities: object) => {
        const meta = { ...ENVELOPE, [CAPABILITIES]: capabilities }
        const { status, answer } = await sendPerRequest(served, 'tools/call', { name: 'ask' }, { path: '/mcp/asking', meta })
        return { status, ...(await answer()) }
      }
      expect(await asking({ sampling: {} })).toMatchObject({
        status: 400,
        error: { code: -32021, data: { requiredCapabilities: { elicitation: {} } } },
      })
      expect(await asking({ elicitation: {} })).toMatchObject({ status: 200, result: { structuredContent: { asked: true } } })
    })
  })
})
