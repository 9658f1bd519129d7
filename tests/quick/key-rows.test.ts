// What keys open, of every operation that there is: rules that no wing may break.
import { expect, test } from 'bun:test'
import { keyRowOf } from '../../src/operations/operation.ts'
import { toolsets } from '../../src/toolsets.ts'

const operations = toolsets.flatMap(({ operations }) => operations)
const idsWhere = (is: (operation: (typeof operations)[number]) => boolean) => operations.filter(is).map(({ id }) => id)
const takesKeys = ({ callers }: (typeof operations)[number]) => callers.some(({ kind }) => kind === 'key')

test('a key that reads opens nothing that writes', () => {
  expect(idsWhere((operation) => operation.effect !== 'read' && keyRowOf(operation).read !== false)).toEqual([])
})

test('an agent’s key opens its own session alone, where no other credential says who calls', () => {
  expect(idsWhere((operation) => takesKeys(operation) && keyRowOf(operation).agent === true)).toEqual([])
  expect(idsWhere(takesKeys).length).toBeGreaterThan(30)
})

test('a key that names its session opens that alone, and a runner’s the calls of a runner', () => {
  expect(idsWhere((operation) => keyRowOf(operation).sess !== false)).toEqual(['control.set_session_name'])
  const ofRunners = idsWhere((operation) => keyRowOf(operation).run !== false)
  expect(ofRunners).toEqual(idsWhere(({ route: [, path] }) => path.startsWith('/runner/')))
  expect(ofRunners).not.toEqual([])
})
