// What the app serves beside its operations, and what its forms have for fields.
import fc from 'fast-check'
import { something, type Scene } from './scene.ts'
import { LOCAL } from '../engines.ts'

export interface Route {
  method: string
  path: string
}

/** The fields that addresses are asked with. */
export const READ_FIELDS = ['q', 'after', 'around', 'cursor', 'before', 'toolsets', 'tools', 'key', 'next', 'include_trace', 'type', 'status', 'owner', 'meeting', 'series', 'from', 'to', 'version', 'worktree', 'name', 'sort'] // prettier-ignore

const NAMES: Record<string, string> = { id: 'session_id', item: 'item_id', record: 'record_id', worktree: 'worktree_id' }

/** A path with something in place of each of its parameters. */
export const filledPath = (path: string, pieceOf: (name: string) => fc.Arbitrary<string>): fc.Arbitrary<string> => {
  const pieces = path.split(/(:\w+(?:\{.*?\}(?=\/|$))?)/).map((piece) => {
    const [, name] = /^:(\w+)/.exec(piece) ?? []
    return name === undefined ? fc.constant(piece) : pieceOf(NAMES[name] ?? name).map(inPath)
  })
  return fc.tuple(...pieces).map((all) => all.join(''))
}

const inPath = (text: string) => (/^\.*$/.test(text) || !text.isWellFormed() ? 'x' : encodeURIComponent(text.slice(0, 2_000)))

/** The names of the fields of all forms that the pages show. */
export const fieldsOfForms = async (scene: Scene): Promise<string[]> => {
  const { ids, credentials } = await something(scene)
  const [room, parser] = [ids.session_id![0]!, ids.session_id![2]!]
  const fill = (path: string) => path.replace(':item', ids.item_id![0]!).replace(':form', 'edit').replace(':record', ids.record_id![0]!).replace(':worktree', ids.worktree_id![0]!) // prettier-ignore
  const pages = scene.app.routes.filter(
    ({ method, path }) => method === 'GET' && !path.includes('{') && !/^\/(api|mcp|public)|live$/.test(path),
  )
  const names = new Set<string>()
  for (const { path } of pages)
    for (const id of [room, parser, ids.proposal_id![0]!]) {
      const address = `${LOCAL}${fill(path).replace(':id', id)}`
      const page = await scene.send(new Request(address, { headers: { host: 'localhost', accept: 'text/html', ...credentials[2] } }))
      const text = page.headers.get('content-type')?.startsWith('text/html') ? await page.text() : ''
      for (const [, name] of text.matchAll(/<(?:input|textarea|select|button)[^>]* name="([^"]+)"/g)) names.add(name!)
    }
  if (names.size < 20) throw new Error(`the pages show ${names.size} fields of forms: ${[...names].join(', ')}`)
  return [...names, 'unknown_field', '__proto__', 'constructor']
}
