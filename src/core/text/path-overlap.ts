// Paths by which work says whose hands a file is in: relative, with `/`; `*` within a name, `**` across folders; a folder means all below.

const MOST_PATH_CHARS = 200
// Thousands of paths are compared at once: without these limits a pair could take milliseconds (overlapping-paths.ts bounds them together).
const MOST_NAMES = 30
const MOST_STARS = 6
const MOST_STAR_CHARS = 60

/** What is wrong with a path, as the sentence after "must"; undefined for a good one. */
export const pathProblem = (path: string): string | undefined => {
  const names = plainPath(path).split('/')
  if ([...path].length > MOST_PATH_CHARS) return `have at most ${MOST_PATH_CHARS} characters`
  if (/^\/|^[a-z]:|^~/i.test(path)) return 'be relative to the project, such as src/parser: no leading /'
  if (path.includes('\\')) return 'be written with /'
  if (names.includes('..')) return 'stay within the project: no ..'
  if (names.some((name) => name === '' || name === '.')) return 'name a file or folder, such as src/parser; all of it is **'
  if (names.some((name) => name.includes('**') && name !== '**')) return 'have ** alone between two /; within a name it is *'
  if (names.length > MOST_NAMES) return `name at most ${MOST_NAMES} folders`
  if ((path.match(/\*+/g) ?? []).length > MOST_STARS) return `have * at ${MOST_STARS} places at most`
  if (names.some((name) => name.includes('*') && name.length > MOST_STAR_CHARS))
    return `have at most ${MOST_STAR_CHARS} characters in a name with *`
  if (/[\u0000-\u001f\u007f?{}!<>|"]/.test(path)) return 'hold names, * and ** alone: write two paths for two choices'
  return undefined
}

/** The path as it is kept: without a leading `./` and a trailing `/`. */
export const plainPath = (path: string): string =>
  path
    .trim()
    .replace(/^(\.\/)+/, '')
    .replace(/\/+$/, '')

/** How many steps of comparing are left; below nothing once they have run out. */
export interface Steps {
  left: number
}

/** Whether one file could lie under both paths. Decided exactly, but for what no text tells: a name that ends like a file's (`a.ts`) is a
 *  folder only where the other path says so, any other name may be one; and names are compared without case, since some disks know none.
 *  Where the steps run out before it is told, they overlap. */
export const patternsOverlap = ({ names: a, isFile: aIsFile }: Pattern, { names: b, isFile: bIsFile }: Pattern, steps: Steps): boolean => {
  const known = new Uint8Array((a.length + 1) * (b.length + 1)) // 0: not known yet
  const meets = (i: number, j: number): boolean => {
    if (--steps.left < 0) return true
    if (i === a.length || j === b.length) return true // what is left of the other lies below this one
    const at = i * (b.length + 1) + j
    if (known[at] !== 0) return known[at] === YES
    const met = a[i] === ANY ? meets(i + 1, j) || aEats(i, j) : b[j] === ANY ? meets(i, j + 1) || bEats(i, j) : both(i, j)
    known[at] = met ? YES : NO
    return met
  }
  const aEnds = (i: number): boolean => a.slice(i).every((name) => name === ANY)
  const bEnds = (j: number): boolean => b.slice(j).every((name) => name === ANY)
  // `**` takes a name of the other, and stands for more still.
  const aEats = (i: number, j: number): boolean => (j === b.length - 1 && bIsFile ? aEnds(i) : meets(i, j + 1))
  const bEats = (i: number, j: number): boolean => (i === a.length - 1 && aIsFile ? bEnds(j) : meets(i + 1, j))
  const both = (i: number, j: number): boolean => {
    if (a[i] === b[j]) return meets(i + 1, j + 1)
    steps.left -= (a[i]!.length * b[j]!.length) / CHARACTERS_A_STEP
    if (!namesMeet(a[i]!, b[j]!)) return false
    if (i === a.length - 1 && aIsFile) return bEnds(j + 1)
    if (j === b.length - 1 && bIsFile) return aEnds(i + 1)
    return meets(i + 1, j + 1)
  }
  return meets(0, 0)
}

/** Whether this file lies under the path. */
export const pathCovers = (path: string, file: string): boolean => {
  const [{ names: pattern }, { names }] = [patternOf(path), patternOf(file)]
  const covers = (i: number, j: number): boolean => {
    if (i === pattern.length) return true
    if (pattern[i] === ANY) return covers(i + 1, j) || (j < names.length && covers(i, j + 1))
    return j < names.length && namesMeet(pattern[i]!, names[j]!.replaceAll('*', '\u0000')) && covers(i + 1, j + 1)
  }
  return covers(0, 0)
}

const ANY = '**'
const [YES, NO] = [1, 2]
const CHARACTERS_A_STEP = 400 // pairs of them, of two names

const hasStar = (name: string): boolean => name.includes('*')

/** A path as it is compared. */
export interface Pattern {
  names: readonly string[]
  /** Whether its last name is a file's. */
  isFile: boolean
  /** Its names before the first star, each with a `/` behind it. */
  lead: string
}

export const patternOf = (path: string): Pattern => {
  const text = plainPath(path).normalize('NFC').toLowerCase()
  const names = text.split('/').filter((name, i, all) => name !== ANY || all[i - 1] !== ANY)
  const star = text.indexOf('*')
  return { names, isFile: isFile(names.at(-1)!), lead: star < 0 ? `${text}/` : text.slice(0, text.lastIndexOf('/', star) + 1) }
}

/** A name with an extension: `a.ts`, `*.md`; not `.github`, not `v1.2`. */
const isFile = (name: string): boolean => /^[^.].*\.[a-z][a-z0-9]{0,4}$/.test(name)

/** Whether one name could be both. */
export const namesMeet = (one: string, other: string): boolean => {
  if (!hasStar(one)) return hasStar(other) ? isMatch(other, one) : one === other
  return hasStar(other) ? beginAlike(one, other) && endAlike(one, other) : isMatch(one, other)
}

// Where both have a star, each takes into it what the other has within: only how they begin and end parts them.
const beginAlike = (one: string, other: string): boolean => {
  let i = 0
  while (one[i] !== '*' && one[i] === other[i]) i++
  return one[i] === '*' || other[i] === '*'
}

const endAlike = (one: string, other: string): boolean => {
  let [i, j] = [one.length - 1, other.length - 1]
  while (one[i] !== '*' && one[i] === other[j]) [i, j] = [i - 1, j - 1]
  return one[i] === '*' || other[j] === '*'
}

// What stands between two stars is taken where it stands first: that leaves most to what follows.
const isMatch = (starred: string, name: string): boolean => {
  const [first = '', ...others] = starred.split('*')
  const last = others.pop()!
  let at = first.length
  for (const part of others) {
    const found = name.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return at <= name.length - last.length && name.startsWith(first) && name.endsWith(last)
}
