// A tool call as a person reads it: its tool, and the argument that says most about it.
import { asText } from '../text/as-text.ts'
import { cutAt } from '../text/cut-at.ts'

/** The arguments that say most about a call, by rank. */
export const TELLING = [
  'command',
  'cmd',
  'pattern',
  'query',
  'file_path',
  'filePath',
  'notebook_path',
  'path',
  'url',
  'description',
  'title',
  'prompt',
  'input',
  'name',
]

const LONGEST = 200 // characters

/** On one line: `Bash: npm test`. Never the JSON of the arguments. */
export const callLine = (tool: string | null | undefined, given: unknown): string => {
  const main = mainArgument(given)
  const line = `${tool ?? 'tool'}${main === '' ? '' : `: ${cutAt(main, 4 * LONGEST)}`}`.replace(/\s+/g, ' ').trim()
  return line.length <= LONGEST ? line : `${cutAt(line, LONGEST - 1)}…`
}

/** The same whole, with the line breaks that the argument has. */
export const callText = (tool: string, given: unknown): string => {
  const main = mainArgument(given)
  return main === '' ? tool : `${tool}: ${main}`
}

/** The argument that says most about a call; where it has none of the list, the first that is a text. */
export const mainArgument = (given: unknown): string => {
  if (typeof given !== 'object' || given === null) return asText(given)
  const named = given as Record<string, unknown>
  const name = TELLING.find((candidate) => textIn(named[candidate]) !== '') ?? Object.keys(named).find((key) => textIn(named[key]) !== '')
  return name === undefined ? '' : textIn(named[name])
}

// Codex calls a shell with a list. Only of the one shape in which nothing else stands is the command shown alone: people allow what they read.
const textIn = (value: unknown): string => {
  if (typeof value === 'string') return value.trim()
  if (!Array.isArray(value) || !value.every((part) => typeof part === 'string')) return ''
  const [shell = '', option = '', command] = value
  const isShell = value.length === 3 && /^(?:\S*\/)?(?:ba|z|da)?sh$/.test(shell) && /^-l?c$/.test(option)
  return (isShell ? command! : value.join(' ')).trim()
}
