// A client as hooks see it: a process that runs a shell's line for each line of JSON that it is handed, and answers how that ended. Several
// run at the same time, as a client's background hooks do.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

for await (const line of createInterface({ input: process.stdin })) {
  const { id, command, input } = JSON.parse(line)
  const child = spawn('/bin/sh', ['-c', command], { stdio: 'pipe', detached: true })
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk) => (out += chunk))
  child.stderr.on('data', (chunk) => (err += chunk))
  child.stdin.on('error', () => {})
  child.stdin.end(JSON.stringify(input))
  child.once('close', (code) => process.stdout.write(`${JSON.stringify({ id, code, out, err })}\n`))
}
