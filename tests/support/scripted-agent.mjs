// An agent's CLI for tests: one JSON a line, in and out. Its prompt is a list of steps, [{ "say": "…" }, { "sh": "…" }, …]; any other text
// is answered as it is.
import { spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

if (process.argv.includes('--version')) {
  if (process.env.VERSION_ASKED) appendFileSync(process.env.VERSION_ASKED, 'asked\n')
  console.log('scripted-agent 1.2.3 (for tests)')
  process.exit(0)
}

const tell = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)
const answers = []
let conversationCost
let interrupted = () => {}
const interrupt = new Promise((resolve) => (interrupted = resolve))
const lines = createInterface({ input: process.stdin })
lines.on('line', (line) => {
  const told = JSON.parse(line)
  if (told.start) void work(told.start)
  if (told.answer) answers.shift()?.(told.answer)
  if (told.interrupt) interrupted()
})
let quits = () => {}
const hungUp = new Promise((resolve) => (quits = resolve))
lines.on('close', () => quits())

const STEPS = {
  say: (text) => tell({ event: { type: 'assistant_response', author: 'agent', content: { text } } }),
  many: (count) => {
    for (let i = 0; i < count; i++) STEPS.say(`line ${i}`)
  },
  /** The time, in milliseconds with their fractions. */
  now: () => STEPS.say(String(performance.timeOrigin + performance.now())),
  big: (length) => STEPS.say('x'.repeat(length)),
  env: () => STEPS.say(JSON.stringify(process.env)),
  input: (_, start) => STEPS.say(JSON.stringify({ start, words: process.argv.slice(2) })),
  raw: (text) => process.stdout.write(text),
  sleep: (ms) => Promise.race([new Promise((resolve) => setTimeout(resolve, ms)), interrupt]),
  // Runs on behind, as a dev server does.
  sh: (command) => void spawn('/bin/sh', ['-c', command], { stdio: ['ignore', 'ignore', 'ignore'] }).unref(),
  hold: () => void spawn('sleep', ['600'], { stdio: ['ignore', 'inherit', 'inherit'], detached: true }).unref(),
  sync: (command) => new Promise((resolve) => spawn('/bin/sh', ['-c', command], { stdio: 'ignore' }).once('exit', resolve)),
  ask: async (question) => {
    const { text, input } = typeof question === 'string' ? { text: question, input: { file_path: 'a.txt' } } : question
    tell({ ask: { tool: 'Write', text, input } })
    STEPS.say(JSON.stringify(await new Promise((resolve) => answers.push(resolve))))
  },
  deaf: () => new Promise(() => setInterval(() => {}, 1_000)),
  /** What its conversation has cost in all. */
  cost: (usd) => void (conversationCost = usd),
  // Knows no conversation from before.
  fresh: (_, start) => {
    if (!start.conversation) return
    tell({ result: { status: 'failed', conversationMissing: true, error: { code: 'agent_failed', message: 'No such conversation.' } } })
    return hungUp.then(() => process.exit(1))
  },
  exit: (code) => process.exit(code),
  closeOut: () => process.stdout.destroy(),
}

const DIGEST = 'You take this work over.' // a server's digest of what came before stands above the steps

const stepsIn = (prompt) => {
  try {
    const steps = JSON.parse(prompt.startsWith(DIGEST) ? prompt.split('\n\n').at(-1) : prompt)
    return Array.isArray(steps) ? steps : [{ say: prompt }]
  } catch {
    return [{ say: prompt }]
  }
}

const work = async (start) => {
  appendFileSync(process.env.STARTS_FILE ?? '/dev/null', `${process.pid}\n`)
  appendFileSync(process.env.PROMPTS_FILE ?? '/dev/null', `${JSON.stringify(start.prompt)}\n`)
  let isInterrupted = false
  void interrupt.then(() => (isInterrupted = true))
  for (const step of stepsIn(start.prompt)) {
    if (isInterrupted) break
    for (const [name, value] of Object.entries(step)) await STEPS[name](value, start)
  }
  tell({ result: { status: isInterrupted ? 'interrupted' : 'completed', answer: 'Done.', conversation: 'c-1', conversationCost } })
  await hungUp
  await new Promise((resolve) => setTimeout(resolve, 100))
  process.exit(0)
}
