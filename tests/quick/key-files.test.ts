import { expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { dropKeyFilesOf, writeKeyFile } from '../../src/client/runner/key-files.ts'

test('a file with a key is its user’s alone, goes when it is dropped, and otherwise when its runner’s guardian cleans up', () => {
  const [dropped, left] = [writeKeyFile('mcp.json', 'a'), writeKeyFile('mcp.json', 'b')]
  expect([statSync(left.file).mode & 0o777, statSync(dirname(left.file)).mode & 0o777]).toEqual([0o600, 0o700])
  expect(readFileSync(left.file, 'utf8')).toBe('b')
  dropped.drop()
  expect([existsSync(dirname(dropped.file)), existsSync(left.file)]).toEqual([false, true])
  const other = mkdtempSync(join(tmpdir(), `parley-runner-${process.pid}0-`))
  dropKeyFilesOf(process.pid)
  expect([existsSync(dirname(left.file)), existsSync(other)]).toEqual([false, true])
  rmSync(other, { recursive: true })
})

const NOBODY = 65_534
test.skipIf(process.getuid?.() !== 0)('a folder of that name that is another user’s keeps none of the others from going', () => {
  const usual = process.env.TMPDIR
  const shared = mkdtempSync('/tmp/parley-shared-') // as /tmp is: everybody makes, and removes what is theirs
  chmodSync(shared, 0o1777)
  process.env.TMPDIR = shared
  const foreign = mkdtempSync(join(tmpdir(), `parley-runner-${process.pid}-`))
  process.seteuid!(NOBODY)
  try {
    const own = writeKeyFile('mcp.json', 'a')
    dropKeyFilesOf(process.pid)
    expect([dirname(dirname(own.file)), existsSync(own.file), existsSync(foreign)]).toEqual([shared, false, true])
  } finally {
    process.seteuid!(0)
    if (usual === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = usual
    rmSync(shared, { recursive: true })
  }
})
