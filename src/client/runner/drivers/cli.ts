// An agent's CLI as a child process: what it prints, what it is told, and how it ended.
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Job, Spawn } from './driver.ts'
import { readLines, type Sink } from './lines.ts'

/** How a CLI ended. */
export interface Gone {
  /** `ended with code 1`, `was ended by SIGKILL`, `could not be started (…)`. */
  how: string
  /** The end of what it printed on standard error: its own words for what went wrong. */
  words: string
}

export interface Cli {
  /** Sends the CLI one message, as a line of JSON. */
  send(message: object): void
  /** The CLI has nothing more to do: its standard input ends, and it must be gone once it has printed nothing for so long. */
  finish(quietMs?: number): void
  /** How the CLI ended. Nothing that it prints is passed on after this. Never rejects. */
  gone: Promise<Gone>
}

const QUIET_MS = 10_000 // after `finish`; Claude Code writes its transcript and waits for background agents meanwhile, and prints as it does
const DEAF_MS = 5_000 // after standard output has ended
const TERM_MS = 2_000 // from SIGTERM to SIGKILL
const DRAIN_MS = 500 // after its end, while a process that it left holds its output open
const WORDS_KEPT = 4096 // characters

/** Starts a CLI. What it prints goes to `sink`; an error in there ends nothing. */
export const startCli = (spawn: Spawn, command: readonly string[], { folder, env }: Job, sink: Sink): Cli => {
  try {
    return attend(spawn(command, { folder, env }), sink)
  } catch (error) {
    return { send() {}, finish() {}, gone: Promise.resolve({ how: `could not be started (${messageOf(error)})`, words: '' }) }
  }
}

const attend = (child: ReturnType<Spawn>, sink: Sink): Cli => {
  let over = false
  let quiet: number | undefined // once it is to finish
  let timer: NodeJS.Timeout | undefined
  const endIn = (ms: number) => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      child.kill('SIGTERM')
      timer = setTimeout(() => child.kill('SIGKILL'), TERM_MS)
    }, ms)
  }
  const guarded = (pass: () => void) => {
    if (quiet !== undefined && !over) endIn(quiet)
    if (!over) pass()
  }
  const read = readLines(child.stdout, {
    record: (record) => guarded(() => sink.record(record)),
    text: (line) => guarded(() => sink.text(line)),
  })
  void read.then(() => over || endIn(DEAF_MS))
  const words = lastWords(child.stderr)
  const errorsRead = finished(child.stderr).catch(() => {})
  child.stdin.on('error', () => {}) // it went before it had read all
  const gone = howItEnds(child).then(async (how) => {
    await Promise.race([Promise.all([read, errorsRead]), sleep(DRAIN_MS)])
    over = true
    clearTimeout(timer)
    return { how, words: words() }
  })
  return {
    send: (message) => void (child.stdin.writable && child.stdin.write(`${JSON.stringify(message)}\n`)),
    finish(quietMs = QUIET_MS) {
      if (quiet !== undefined) return
      quiet = quietMs
      child.stdin.end()
      if (!over) endIn(quiet)
    },
    gone,
  }
}

const howItEnds = (child: ReturnType<Spawn>): Promise<string> =>
  new Promise((resolve) => {
    child.once('error', (error) => resolve(`could not be started (${messageOf(error)})`))
    child.once('exit', (code, signal) => resolve(signal ? `was ended by ${signal}` : `ended with code ${code}`))
  })

const lastWords = (stderr: Readable) => {
  let kept = Buffer.alloc(0)
  stderr.on('data', (chunk: Buffer) => (kept = Buffer.concat([kept, chunk]).subarray(-WORDS_KEPT)))
  stderr.on('error', () => {})
  return () => kept.subarray(kept.findIndex(beginsCharacter)).toString('utf8').trim()
}

// The cut may be within a character.
const beginsCharacter = (byte: number): boolean => (byte & 0xc0) !== 0x80

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** A sentence for a CLI that ended without saying how its task went, with its own words where it had some. */
export const silentEnd = (program: string, { how, words }: Gone): string =>
  `${program} ${how}${how.startsWith('could not') ? '' : ' before it said how the task went'}${words ? `: ${words}` : '.'}`
