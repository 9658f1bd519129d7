// The program `parley` with one agent more: the scripted one, driven by a driver of its own.
import { homedir } from 'node:os'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Driver, Result } from '../../src/client/runner/drivers/driver.ts'
import { runRunner } from '../../src/client/runner/run.ts'
import { BadCall, Stop } from '../../src/client/machine.ts'

const driver = (agenticTool: string, program: string, words: readonly string[]): Driver => ({
  agenticTool,
  program,
  howToGet: 'put tests/support/scripted-agent.mjs into PATH',
  oldest: '1.2.4', // the scripted agent calls itself 1.2.3
  start({ folder, env, ...job }, listener, spawn) {
    const child = spawn([program, ...words], { folder, env })
    const tell = (line: unknown) => child.stdin.write(`${JSON.stringify(line)}\n`)
    let result: Result | undefined
    let number = 0
    createInterface({ input: child.stdout }).on('line', async (line) => {
      let told: any
      try {
        told = JSON.parse(line)
      } catch {
        return listener.event(`e${number++}`, { type: 'runtime', author: 'system', content: { event: 'output', text: line } })
      }
      if (told.event) listener.event(told.event.key ?? `e${number++}`, told.event)
      if (told.ask) tell({ answer: await listener.ask(told.ask) })
      if (told.result) {
        result = told.result
        child.stdin.end()
      }
    })
    tell({ start: { ...job, folder } })
    const ended = new Promise<Result>((resolve) => {
      child.once('error', (error) => resolve({ status: 'failed', error: { code: 'agent_failed', message: error.message } }))
      child.once('close', (code) =>
        resolve(result ?? { status: 'failed', error: { code: 'agent_failed', message: `It ended with code ${code} and said nothing.` } }),
      )
    })
    return { ended, interrupt: () => tell({ interrupt: true }) }
  },
})

const added = (name: string, [program, ...words]: readonly string[]) => driver(name, program!, words)

try {
  process.exitCode = await runRunner(
    process.argv.slice(2),
    {
      env: process.env,
      home: process.env.HOME || homedir(),
      folder: process.cwd(),
      program: fileURLToPath(import.meta.url),
      runtime: process.execPath,
      pid: process.pid,
      input: process.stdin,
      out: process.stdout,
      err: process.stderr,
    },
    { builtIn: [driver('scripted', 'scripted-agent', [])], added },
  )
} catch (error) {
  if (!(error instanceof Stop)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = error instanceof BadCall ? 2 : 1
}
process.exit()
