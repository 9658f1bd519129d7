// A credential that stands where it does not belong must not come back: answers are logged, and copied into chats.
import { expect } from 'bun:test'
import { readAssets } from '../../src/pages/assets.ts'
import { createWaiting } from '../../src/pages/approvals/waiting.ts'
import { pageRoutes } from '../../src/pages/routes.tsx'
import { test } from '../support/foreign.ts'
import { onOneEngine, operations, room, viaRest, type Parley, type Sending } from '../support/parley.ts'

interface Route {
  method: string
  path: string
  query: string[]
  body: string[]
}

const described = async (parley: Parley): Promise<Route[]> => {
  const { paths } = await (await parley.send('/api/openapi.json')).json()
  return Object.entries<Record<string, any>>(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody }]) => ({
      method: method.toUpperCase(),
      path: path.replaceAll(/\{(\w+)\}/g, ':$1'),
      query: parameters.filter((each: { in: string }) => each.in === 'query').map(({ name }: { name: string }) => name),
      body: Object.keys(requestBody?.content['application/json']?.schema?.properties ?? {}),
    })),
  )
}

const pages = async (parley: Parley): Promise<Route[]> =>
  pageRoutes({
    services: parley.services,
    assets: await readAssets(undefined),
    eventKinds: new Map(),
    waiting: createWaiting(parley.services),
  })
    .routes.filter(({ method, path }) => method === 'GET' && path.includes('/:'))
    .map(({ method, path }) => ({ method, path, query: [], body: [] }))

/** The path with its parameters as they should be, and once for each of them with `wrong` in its place. */
const filled = (path: string, sessionId: string, wrong: string) => {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!)
  const withWrong = (at?: string) =>
    path.replaceAll(/:(\w+)(\{[^}]*\})?/g, (_, name) => (name === at ? wrong : /session|^id$/.test(name) ? sessionId : '1'))
  return { right: withWrong(), wrong: names.map(withWrong) }
}

onOneEngine((parley) => {
  test('no endpoint sends back a credential that it is sent in its path, query, body or headers', async () => {
    const { id, bea } = await room(viaRest(parley()))
    const { token } = bea
    const echoes: string[] = []
    const ask = async (what: string, path: string, sending: Sending) => {
      const answer = await parley().send(path, sending)
      const held = answer.headers.get('content-type')?.startsWith('text/event-stream')
      const said = held ? (await answer.body?.cancel(), '') : await answer.text()
      expect(said, what).not.toContain('There is no tool named')
      if (`${said}${JSON.stringify([...answer.headers])}`.includes(token.split('.')[1]!)) echoes.push(what)
    }
    const api = await described(parley())
    expect(api.length).toBeGreaterThan(operations.length)
    for (const { method, path, query, body } of [...api, ...(await pages(parley()))]) {
      const { right, wrong } = filled(path, id, token)
      const reads = method === 'GET'
      const ways: [string, string, Sending][] = [
        ...wrong.map((other): [string, string, Sending] => ['in the path', other, {}]),
        ...query.map((name): [string, string, Sending] => [`as ${name} of the query`, `${right}?${name}=${token}`, {}]),
        ['as a name in the query', `${right}?${token}=1`, {}],
        ['as its type', right, { headers: { 'content-type': token } }],
        ['as its key', right, { headers: { 'idempotency-key': token } }],
        ...(reads ? [] : body).map((name): [string, string, Sending] => [`as ${name}`, right, { body: JSON.stringify({ [name]: token }) }]),
        ...(reads ? [] : [JSON.stringify({ [token]: 1 }), JSON.stringify([token]), token]).map((given): [string, string, Sending] => [
          `as the body ${given.slice(0, 3)}…`,
          right,
          { body: given },
        ]),
      ]
      for (const [how, at, sending] of ways)
        await ask(`${method} ${path} ${how}`, at, { method, ...(reads ? {} : { body: '{}' }), ...sending })
    }
    for (const { name, toolset, restOnly, input } of operations) {
      if (restOnly) continue // it has no tool
      const call = (given: object) =>
        ask(`tool ${name}, ${Object.keys(given).at(-1)}`, `/mcp/${toolset}`, {
          headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } }),
        })
      for (const argument of [...Object.keys(input.shape), token]) await call({ session_id: id, [argument]: token })
    }
    expect(echoes.map((echo) => echo.replaceAll(token, '<token>'))).toEqual([])
  }, 120_000)
})
