// Entries in settings written as JSON, with comments or without. What is there is never formatted anew: an entry goes in at the beginning of
// the object or array that it belongs to.
import { applyEdits, findNodeAtLocation, modify, parse, parseTree, type JSONPath, type Node } from 'jsonc-parser'
import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../core/text/json.ts'
import { insert, lineEndOf, takeOutAll, type Insertion } from './insertion.ts'

export interface JsonEntry {
  path: string[]
  /** Stands at the path itself, or is one of the elements of a list there. */
  as: 'value' | 'element'
  value: unknown
}

const LENIENT = { allowTrailingComma: true, allowEmptyContent: true }
const BOM = '\uFEFF'

/** The value of a text; undefined where it is no JSON object. An empty text counts as an empty object. */
export const jsonValue = (text: string): Record<string, unknown> | undefined => {
  const errors: unknown[] = []
  const value: unknown = parse(withoutBom(text), errors as never[], LENIENT) ?? {}
  return errors.length === 0 && isObject(value) ? value : undefined
}

/** Whether all entries are there as they should be. */
export const hasJson = (text: string, entries: JsonEntry[]): boolean => {
  const value = jsonValue(text)
  return value !== undefined && entries.every((entry) => placeOf(value, entry) !== undefined)
}

/** The insertions, one after the other, that put the entries in; undefined where something else stands where they belong. */
export const addJson = (text: string, entries: JsonEntry[]): Insertion[] | undefined => {
  const made: Insertion[] = []
  let now = text
  for (const entry of entries) {
    const insertion = insertionOf(now, entry)
    if (!insertion) return undefined
    made.push(insertion)
    now = insert(now, insertion)
  }
  return hasJson(now, entries) ? made : undefined
}

/** The text without the entries, and without the lists and objects that were made for them and are empty now. */
export const removeJson = (text: string, entries: JsonEntry[], made: Insertion[]): string => {
  const cut = takeOutAll(text, made)
  const holders = madeFor(entries, made)
  const removed = entries.toReversed().reduce((left, entry) => withoutEntry(left, entry, holders), text)
  return cut !== undefined && isDeepStrictEqual(jsonValue(cut), jsonValue(removed)) ? cut : removed
}

const insertionOf = (text: string, { path, as, value }: JsonEntry): Insertion | undefined => {
  const bom = text.startsWith(BOM) ? 1 : 0
  const body = withoutBom(text)
  if (body.trim() === '') return { at: bom, text: written(nested(path, as, value), '', '  ', lineEndOf(body)) + lineEndOf(body) }
  const root = parseTree(body, [], LENIENT)
  if (root?.type !== 'object') return undefined
  let depth = path.length
  while (depth > 0 && !findNodeAtLocation(root, path.slice(0, depth))) depth--
  const container = depth === 0 ? root : findNodeAtLocation(root, path.slice(0, depth))!
  const isList = depth === path.length
  if (container.type !== (isList ? 'array' : 'object') || (isList && as === 'value')) return undefined
  const rest = path.slice(depth + 1)
  const content = isList ? value : nested(rest, as, value)
  return { at: bom + container.offset + 1, text: firstIn(container, body, depth + 1, isList ? undefined : path[depth], content) }
}

// What is put behind the opening brace of an object or array.
const firstIn = (container: Node, body: string, depth: number, key: string | undefined, content: unknown): string => {
  const eol = lineEndOf(body)
  const unit = unitOf(body)
  const indent = unit.repeat(depth)
  const name = key === undefined ? '' : `${JSON.stringify(key)}: `
  const inside = body.slice(container.offset + 1, container.offset + container.length - 1)
  const isEmpty = (container.children ?? []).length === 0
  const end = isEmpty
    ? inside.includes('\n')
      ? ''
      : eol + unit.repeat(depth - 1)
    : inside.startsWith('\n') || inside.startsWith('\r')
      ? ','
      : `,${eol}${indent}`
  return `${eol}${indent}${name}${written(content, indent, unit, eol)}${end}`
}

// One step of indentation: the least that a line has.
const unitOf = (body: string): string => {
  const indents = [...body.matchAll(/^([ \t]+)\S/gm)].map(([, indent]) => indent!)
  return indents.toSorted((a, b) => a.length - b.length)[0] ?? '  '
}

const nested = (path: string[], as: JsonEntry['as'], value: unknown): unknown =>
  path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), as === 'element' ? [value] : value)

const written = (value: unknown, indent: string, unit: string, eol: string): string =>
  JSON.stringify(value, null, unit).replaceAll('\n', eol + indent)

// Where the entry stands in the value.
const placeOf = (value: unknown, { path, as, value: wanted }: JsonEntry): JSONPath | undefined => {
  const found = valueAt(value, path)
  if (as === 'value') return isDeepStrictEqual(found, wanted) ? path : undefined
  const index = Array.isArray(found) ? found.findIndex((element) => isDeepStrictEqual(element, wanted)) : -1
  return index < 0 ? undefined : [...path, index]
}

const valueAt = (value: unknown, path: string[]): unknown =>
  path.reduce<unknown>((inner, key) => (isObject(inner) ? inner[key] : undefined), value)

// The paths of the lists and objects that were made with the entries, rather than found there.
const madeFor = (entries: JsonEntry[], made: Insertion[]): string[][] =>
  entries.flatMap(({ path }, n) => path.map((_, last) => path.slice(0, last + 1)).slice(namesBefore(path, made[n]?.text ?? '')))

// How many names of a path were there before what was inserted for it: that is a whole text, what begins with a name, or an element of a list.
const namesBefore = (path: string[], text: string): number => {
  if (valueAt(jsonValue(text), path) !== undefined) return 0
  const first = path.findIndex((_, n) => valueAt(jsonValue(`{${text}}`), path.slice(n)) !== undefined)
  return first < 0 ? path.length : first
}

// A value is taken out whatever a person has made of it since: its name is ours. An element of a list is, if it is still as it was.
const withoutEntry = (text: string, entry: JsonEntry, holders: string[][]): string => {
  const value = jsonValue(text)
  const there = entry.as === 'value' ? entry.path : value && placeOf(value, entry)
  if (!value || !there || !findNodeAtLocation(treeOf(text), there)) return text
  let left = withoutPath(text, there)
  for (let depth = there.length - 1; depth > 0; depth--) {
    const above = there.slice(0, depth)
    const node = findNodeAtLocation(treeOf(left), above)
    const ours = holders.some((holder) => isDeepStrictEqual(holder, above))
    if (!ours || (node?.children ?? []).length > 0) break
    left = withoutPath(left, above)
  }
  return left
}

const withoutPath = (text: string, path: JSONPath): string => {
  const bom = text.startsWith(BOM) ? BOM : ''
  const body = withoutBom(text)
  return bom + applyEdits(body, modify(body, path, undefined, {}))
}

const treeOf = (text: string): Node => parseTree(withoutBom(text), [], LENIENT)!
const withoutBom = (text: string): string => (text.startsWith(BOM) ? text.slice(1) : text)
