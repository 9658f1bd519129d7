// Where the program runs: what its entry reads from the process, so that the rest reads no environment.
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'

export interface Terminal {
  isTTY?: boolean
  columns?: number
  write(text: string): unknown
}

export interface Machine {
  env: Record<string, string | undefined>
  /** The person's home folder. */
  home: string
  /** The folder it was called in. */
  folder: string
  /** This program's file, and the runtime that runs it. */
  program: string
  runtime: string
  pid: number
  input: NodeJS.ReadableStream & { isTTY?: boolean }
  out: Terminal
  err: Terminal
}

/** Whoever reads what the program says may go away, as `head` does: the program goes on, and what it says then is lost. */
export const outliveReaders = (...outputs: NodeJS.WritableStream[]): void => {
  for (const output of outputs) output.on('error', () => {})
}

/** Ends the program: its message is for the person at the terminal. */
export class Stop extends Error {}

/** Ends the program because it was called wrongly. */
export class BadCall extends Stop {}

/** The words of a call, taken apart. Throws BadCall where they are none of the options. `help`: what lists these. */
export const readWords = <const Options extends ParseArgsOptionsConfig>(args: string[], options: Options, help: string) => {
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    // Node adds advice for words that begin with a dash, which no command takes.
    const [what] = (error as Error).message.split(/\.$|\.? To specify a positional/, 1)
    throw new BadCall(`${what}. ${help} lists what there is.`)
  }
}
