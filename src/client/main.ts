#!/usr/bin/env node
// The program `parley`, for Node 20 and Bun: one file, built by components/styles.ts and served by the hub (doors/rest/client-package.ts).
import { homedir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { runClient } from './commands.ts'
import { outliveReaders } from './machine.ts'
import { lastingName } from './runtime.ts'

outliveReaders(process.stdout, process.stderr)
process.exitCode = await runClient(process.argv.slice(2), {
  env: process.env,
  home: process.env.HOME || homedir(),
  folder: process.cwd(),
  program: fileURLToPath(import.meta.url),
  runtime: lastingName(process.execPath, process.env.PATH),
  pid: process.pid,
  input: process.stdin,
  out: process.stdout,
  err: process.stderr,
})
process.exit()
