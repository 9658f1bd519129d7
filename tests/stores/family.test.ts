// Trees of more sessions than a page shows.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { FamilyMember } from '../../components/agents/agent-view.ts'
import type { Database } from '../../db/database.ts'
import { familiesOf, familyOf } from '../../src/pages/agents/family.ts'
import { deleteSession } from '../../src/stores/purge.ts'
import { embeddedDatabase } from '../support/pglite.ts'

let database: Database
beforeAll(async () => {
  database = await embeddedDatabase()
})
afterAll(() => database.close())

const opened = async (title: string, minute: number, above: FamilyMember['id'] | null, root?: string): Promise<string> => {
  const id = crypto.randomUUID()
  await database.query(
    `insert into sessions (id, title, description, series_id, agent_status, created_at, parent_session_id)
     values ($1, $2, '', $1, 'idle', now() + $3 * interval '1 minute', $4)`,
    [id, title, minute, above],
  )
  await database.query(
    `insert into agents (session_id, team_id, root_session_id, context_files, mcp_servers) values ($1, $1, $2, '[]', '[]')`,
    [id, root ?? id],
  )
  return id
}

const titlesIn = (tree: FamilyMember | undefined): string[] => (tree ? [tree.title, ...tree.below.flatMap(titlesIn)] : [])
const numbered = (word: string, count: number) => Array.from({ length: count }, (_, i) => `${word} ${i + 1}`)

test('a session that was purged holds its place in its tree', async () => {
  const top = await opened('Top', 0, null)
  const middle = await opened('Middle', 1, top, top)
  const under = await opened('Under it', 2, middle, top)
  await database.transaction((tx) => deleteSession(tx, middle))
  for (const tree of [await familyOf(database, top), await familyOf(database, under), (await familiesOf(database, [under, top])).get(top)])
    expect(titlesIn(tree)).toEqual(['Top', '(purged)', 'Under it'])
  expect([...(await familiesOf(database, [middle, under])).keys()]).toEqual([top])
})

test('each tree has its newest hundred, and all that these come from', async () => {
  const [large, small, lone] = [await opened('Large', 0, null), await opened('Small', 0, null), await opened('Lone', 0, null)]
  const oldest = await opened('Oldest', 1, large, large)
  const under = await opened('Under it', 2, oldest, large)
  for (const [i, title] of numbered('Child', 99).entries()) await opened(title, 3 + i, large, large)
  await opened('Newest', 200, oldest, large)
  for (const [i, title] of numbered('Other', 50).entries()) await opened(title, 3 + i, small, small)

  const trees = await familiesOf(database, [large, small, lone])
  expect([...trees.keys()].toSorted()).toEqual([large, small].toSorted())
  expect(titlesIn(trees.get(large))).toEqual(['Large', 'Oldest', 'Newest', ...numbered('Child', 99)])
  expect(titlesIn(trees.get(small))).toEqual(['Small', ...numbered('Other', 50)])
  expect(titlesIn(await familyOf(database, under))).toEqual(['Large', 'Oldest', 'Under it', 'Newest', ...numbered('Child', 99)])
})
