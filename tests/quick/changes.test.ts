import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeTask, changesSince } from '../../src/client/runner/changes.ts'
import { addWorktree, gitIn, stateOf } from '../../src/client/runner/git.ts'
import { git } from '../support/runner.ts'

let folder: string
const at = (name: string) => join(folder, name)
const ask = gitIn(process.env)
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-changes-'))
  git(folder, 'init', '-q', '-b', 'main')
  writeFileSync(at('known.txt'), 'one\ntwo\n')
  git(folder, 'add', '.')
  git(folder, '-c', 'user.name=Alex', '-c', 'user.email=alex@example.org', 'commit', '-qm', 'First')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('lines of new files are counted with and without a last line end; an empty and a large file count as files', async () => {
  writeFileSync(at('before.txt'), 'a\nb\n')
  const before = await beforeTask(ask, folder)
  writeFileSync(at('known.txt'), 'one\nthree\nfour')
  appendFileSync(at('before.txt'), 'c')
  writeFileSync(at('empty.txt'), '')
  writeFileSync(at('one.txt'), '\n')
  writeFileSync(at('large.txt'), 'x\n'.repeat(600_000))
  expect(await changesSince(ask, folder, before)).toEqual({ files: 5, added: 2 + 1 + 1, removed: 1 })
  git(folder, 'add', 'before.txt', 'large.txt')
  expect(await changesSince(ask, folder, await beforeTask(ask, folder))).toEqual({ files: 0, added: 0, removed: 0 })
})

test('links are not followed, and a pipe is not waited for: what stands in a worktree holds no runner up', async () => {
  const before = await beforeTask(ask, folder)
  Bun.spawnSync(['mkfifo', at('pipe')])
  symlinkSync(at('pipe'), at('to-the-pipe'))
  symlinkSync('/dev/zero', at('endless'))
  symlinkSync('known.txt', at('to-a-file'))
  expect(await changesSince(ask, folder, before)).toEqual({ files: 3, added: 0, removed: 0 }) // for git a pipe is nothing
})

test('of very many new files the lines of the first are counted, and all of them as files', async () => {
  const before = await beforeTask(ask, folder)
  mkdirSync(at('many'))
  writeFileSync(at('many/0'), 'a line\n')
  for (let i = 1; i < 2_100; i++) linkSync(at('many/0'), at(`many/${i}`)) // which takes a fraction of the time
  const changes = await changesSince(ask, folder, before)
  expect(changes).toMatchObject({ files: 2_100, removed: 0 })
  expect(changes!.added).toBeWithin(1_900, 2_001)
  const again = await beforeTask(ask, folder)
  expect(await changesSince(ask, folder, again)).toEqual({ files: 0, added: 0, removed: 0 })
})

// An agent that may edit files alone may write all of this.
test('nothing that a repository’s own config names is run, and what the user’s names is', async () => {
  const home = mkdtempSync(join(tmpdir(), 'parley-programs-'))
  const ran = join(home, 'ran')
  const program = (name: string) => `echo ${name} >> ${ran}; cat`
  mkdirSync(join(home, 'hooks'))
  for (const hook of ['post-checkout', 'post-index-change', 'reference-transaction'])
    writeFileSync(join(home, 'hooks', hook), `#!/bin/sh\necho ${hook} >> ${ran}\n`, { mode: 0o755 })
  try {
    git(home, 'init', '-q', '-b', 'main', 'app')
    const app = join(home, 'app')
    const file = (name: string, text: string) => writeFileSync(join(app, name), text)
    file('own.txt', 'a\n')
    file('users.txt', 'a\n')
    file('side.txt', 'a\n')
    file('inner.txt', 'a\n')
    file('.gitattributes', 'own.txt filter=own diff=own\nusers.txt filter=users\nside.txt filter=side\ninner.txt filter=inner\n')
    git(app, 'init', '-q', 'sub') // as a submodule has it
    file('sub/own.txt', 'a\n')
    file('sub/.gitattributes', '* filter=sub\n')
    git(join(app, 'sub'), 'add', '.')
    git(join(app, 'sub'), '-c', 'user.name=Alex', '-c', 'user.email=alex@example.org', 'commit', '-qm', 'First')
    git(join(app, 'sub'), 'config', 'filter.sub.clean', program('sub'))
    git(app, '-c', 'advice.addEmbeddedRepo=false', 'add', '.')
    git(app, '-c', 'user.name=Alex', '-c', 'user.email=alex@example.org', 'commit', '-qm', 'First')
    const settings = ['filter.own.clean', 'filter.own.smudge', 'filter.own.process', 'filter.users.clean', 'filter.users.smudge']
    for (const name of [...settings, 'core.fsmonitor', 'core.sshCommand', 'diff.external', 'diff.own.command', 'diff.own.textconv'])
      git(app, 'config', name, program(name))
    git(app, 'config', 'filter.own.required', 'true')
    git(app, 'config', 'core.hooksPath', '../hooks')
    git(app, 'config', 'include.path', '../more')
    writeFileSync(join(app, 'more'), `[filter "more"]\n\tclean = "${program('more')}"\n`)
    for (const condition of ['gitdir:**/worktrees/**', 'onbranch:side']) git(app, 'config', `includeIf.${condition}.path`, 'inner')
    file('.git/inner', `[filter "inner"]\n\tclean = "${program('inner')}"\n\tsmudge = "${program('inner')}"\n`)
    writeFileSync(join(home, '.gitconfig'), `[filter "users"]\n\tclean = "echo user >> ${ran}; cat"\n\tsmudge = cat\n`)
    const asked = gitIn({ ...process.env, HOME: home, XDG_CONFIG_HOME: home, PARLEY_RUNNER_KEY: 'a key' })
    const before = await beforeTask(asked, app)
    for (const name of ['own.txt', 'users.txt', 'sub/own.txt']) file(name, 'b\n')
    expect(await stateOf(asked, app)).toMatchObject({ branch: 'main', changed: 3 }) // with `more`
    expect(await changesSince(asked, app, before)).toMatchObject({ files: 2, added: 2, removed: 2 })
    await addWorktree(asked, app, join(home, 'side'), 'side', 'HEAD')
    await asked(app, 'worktree', 'unlock', '--', join(home, 'side'))
    expect(await stateOf(asked, join(home, 'side'))).toMatchObject({ branch: 'side', changed: 0 })
    git(app, 'config', 'extensions.worktreeConfig', 'true')
    git(join(home, 'side'), 'config', '--worktree', 'filter.side.clean', program('side'))
    utimesSync(join(home, 'side', 'side.txt'), 1, 1) // its content is looked at again
    await asked(app, 'worktree', 'remove', '--', join(home, 'side'))
    for (const [name, value] of Object.entries({ url: `ext::cp /dev/null ${join(home, 'fetched')}`, promisor: 'true' }))
      git(app, 'config', `remote.evil.${name}`, value)
    git(app, 'config', 'protocol.ext.allow', 'always')
    writeFileSync(join(app, '.git/refs/heads/missing'), `${'1'.repeat(40)}\n`)
    expect(await asked(app, 'rev-parse', '--verify', '--quiet', 'missing^{commit}').catch(() => 'none')).toBe('none')
    expect(existsSync(join(home, 'fetched'))).toBe(false)
    expect(new Set(readFileSync(ran, 'utf8').trim().split('\n'))).toEqual(new Set(['user']))
    git(app, 'config', 'filter.a=b.clean', program('a=b'))
    expect((await stateOf(asked, app)).changed).toBeUndefined()
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
})

test('git gets no key of the runner', async () => {
  const bin = mkdtempSync(join(tmpdir(), 'parley-git-'))
  writeFileSync(join(bin, 'git'), '#!/bin/sh\nenv\n', { mode: 0o755 })
  const env = { PATH: `${bin}:${process.env.PATH}`, PARLEY_RUNNER_KEY: 'ca_run_1', GIT_DIR: '/elsewhere', LANG: 'C' }
  const printed = await gitIn(env)(bin, 'rev-parse')
  rmSync(bin, { recursive: true })
  expect(printed).toContain('LANG=C')
  expect(printed).not.toMatch(/PARLEY_|GIT_DIR=/)
})
