// A CLI's side of one task, recorded: what it printed, and after which lines that it was told. `bun tests/record-clis.ts` makes the recordings.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Stage } from './drivers.ts'

export type Step =
  | { to: string } // a line that it is told; the word is for readers
  | { from: unknown } // a line that it prints
  | { file: string; text: string } // a file that it writes below its home
  | { expected: unknown } // the agent's work, as an import of its own transcript gives it

const RECORDINGS = join(import.meta.dir, '../data/clis')
const HOME = '{{HOME}}'

/** `home`: in place of the one that it was recorded in. */
export const recordingOf = (name: string, home: string): Step[] =>
  readFileSync(join(RECORDINGS, `${name}.jsonl`), 'utf8')
    .replaceAll(HOME, home)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Step)

/** Keeps a recording, without the machine's paths. */
export const keepRecording = (name: string, steps: Step[], home: string) => {
  if (!existsSync(RECORDINGS)) mkdirSync(RECORDINGS)
  const text = steps.map((step) => `${JSON.stringify(step)}\n`).join('')
  writeFileSync(join(RECORDINGS, `${name}.jsonl`), text.replaceAll(home, HOME))
}

/** Puts a program in PATH that does what was recorded. */
export const replay = (stage: Stage, program: string, steps: Step[]) => {
  const script = join(stage.home, `${program}.json`)
  writeFileSync(script, JSON.stringify(steps))
  for (const step of steps) if ('file' in step) mkdirSync(dirname(join(stage.home, step.file)), { recursive: true })
  stage.program(program, `const SCRIPT = ${JSON.stringify(script)}; const HOME = ${JSON.stringify(stage.home)};${PLAYER}`)
}

const PLAYER = `
const fs = require('fs')
const lines = require('readline').createInterface({ input: process.stdin })
const told = []
let wake = () => {}
lines.on('line', (line) => { told.push(line); wake() })
lines.on('close', () => process.exit(0))
const play = async () => {
  for (const step of JSON.parse(fs.readFileSync(SCRIPT, 'utf8'))) {
    if (step.from) process.stdout.write(JSON.stringify(step.from) + '\\n')
    if (step.file) fs.writeFileSync(HOME + '/' + step.file, step.text)
    if (step.to) { if (told.length === 0) await new Promise((resolve) => (wake = resolve)); told.shift() }
  }
}
play()
`

/** A program in PATH that passes everything on to another one, and writes down both sides. */
export const recorder = (program: string, log: string) => `
const { spawn } = require('child_process')
const fs = require('fs')
const child = spawn(${JSON.stringify(program)}, process.argv.slice(2), { stdio: ['pipe', 'pipe', 'inherit'] })
const pass = (from, to, side) => {
  let rest = ''
  from.on('data', (chunk) => {
    const parts = (rest + chunk).split('\\n')
    rest = parts.pop()
    for (const part of parts) fs.appendFileSync(${JSON.stringify(log)}, JSON.stringify({ [side]: JSON.parse(part) }) + '\\n')
    to.write(chunk)
  })
  from.on('end', () => to.end())
}
pass(process.stdin, child.stdin, 'to')
pass(child.stdout, process.stdout, 'from')
child.on('exit', (code) => setTimeout(() => process.exit(code ?? 1), 50))
`
