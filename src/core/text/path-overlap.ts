// Paths by which work says whose hands a file is in: relative, with `/`; `*` within a name, `**` across folders; a folder means all below.

export const MOST_PATH_CHARS = 200
// Thousands of paths are compared at once: without these limits a pair could take milliseconds, with them it takes 40 µs at the most.
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

/** Whether one file could lie under both. Decided exactly, but for what no text tells: a name that ends like a file's (`a.ts`) is a folder only
 *  where the other path says so, any other name may be one; and names are compared without case, since some disks know none. */
export const pathsOverlap = (one: string, other: string): boolean => patternsOverlap(patternOf(one), patternOf(other))

/** The same of paths that are compared many times. */
export const patternsOverlap = (a: Pattern, b: Pattern): boolean => {
  if (a[0] !== b[0] && isPlain(a[0]!) && isPlain(b[0]!)) return false // most pairs
  const known = new Map<number, boolean>()
  const meets = (i: number, j: number): boolean => {
    if (i === a.length || j === b.length) return true // what is left of the other lies below this one
    const at = i * (b.length + 1) + j
    const before = known.get(at)
    if (before !== undefined) return before
    const met = a[i] === ANY ? meets(i + 1, j) || eats(a, i, b, j) : b[j] === ANY ? meets(i, j + 1) || eats(b, j, a, i) : both(i, j)
    known.set(at, met)
    return met
  }
  // `**` of `any` takes the name at `j` of `names`, and stands for more still.
  const eats = (any: Pattern, i: number, names: Pattern, j: number): boolean => {
    if (j === names.length - 1 && isFile(names[j]!)) return any.slice(i).every((name) => name === ANY)
    return any === a ? meets(i, j + 1) : meets(j + 1, i)
  }
  const both = (i: number, j: number): boolean => {
    if (a[i] === b[j]) return meets(i + 1, j + 1)
    if (!namesMeet(a[i]!, b[j]!)) return false
    if (i === a.length - 1 && isFile(a[i]!)) return b.slice(j + 1).every((name) => name === ANY)
    if (j === b.length - 1 && isFile(b[j]!)) return a.slice(i + 1).every((name) => name === ANY)
    return meets(i + 1, j + 1)
  }
  return meets(0, 0)
}

/** Whether this file lies under the path. */
export const pathCovers = (path: string, file: string): boolean => {
  const [pattern, names] = [patternOf(path), patternOf(file)]
  const covers = (i: number, j: number): boolean => {
    if (i === pattern.length) return true
    if (pattern[i] === ANY) return covers(i + 1, j) || (j < names.length && covers(i, j + 1))
    return j < names.length && namesMeet(pattern[i]!, names[j]!.replaceAll('*', '\u0000')) && covers(i + 1, j + 1)
  }
  return covers(0, 0)
}

const ANY = '**'
const isPlain = (name: string): boolean => !name.includes('*')

/** A path's names, as they are compared. */
export type Pattern = readonly string[]

export const patternOf = (path: string): Pattern =>
  plainPath(path)
    .normalize('NFC')
    .toLowerCase()
    .split('/')
    .filter((name, i, names) => name !== ANY || names[i - 1] !== ANY)

/** A name with an extension: `a.ts`, `*.md`; not `.github`, not `v1.2`. */
const isFile = (name: string): boolean => /^[^.].*\.[a-z][a-z0-9]{0,4}$/.test(name)

/** Whether one name could be both: from the left, for each place in one, the places in the other that are reached. */
export const namesMeet = (one: string, other: string): boolean => {
  if (!one.includes('*') && !other.includes('*')) return one === other
  let reached = throughStars(other, [true, ...Array<boolean>(other.length).fill(false)])
  for (const char of one) {
    let some = false // whether a place before was reached, or this one
    const next = Array.from(reached, (here, j) =>
      char === '*' ? (some ||= here) : (here && other[j] === '*') || (j > 0 && reached[j - 1]! && other[j - 1] === char),
    )
    reached = throughStars(other, next)
  }
  return reached[other.length]!
}

// A star may stand for nothing: where it is reached, what follows it is too.
const throughStars = (text: string, reached: boolean[]): boolean[] => {
  for (let j = 0; j < text.length; j++) if (reached[j] && text[j] === '*') reached[j + 1] = true
  return reached
}
