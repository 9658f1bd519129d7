import { expect, test } from 'bun:test'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { forgetMissing, GitFailed, gitIn, ownerAndName, repositoryAt, stateOf, type Git } from '../../src/client/runner/git.ts'
import { hubCalls } from '../../src/client/runner/hub-calls.ts'
import { prune } from '../../src/client/runner/prune.ts'
import { isSameHub, keepMade, madeOnes, makeWorktree, namedWorktrees, neededPaths, worktreesAt } from '../../src/client/runner/worktrees.ts'
import { git, until } from '../support/runner.ts'
import { FULL } from '../support/full.ts'
import { LONG_MS, steps, withRunners } from '../support/runner-scene.ts'

const { scene, ending } = withRunners()

test('the name of a repository is that of its origin, and of no folder', () => {
  const names: Record<string, string | undefined> = {
    'git@example.org:acme/app.git': 'acme/app',
    'https://example.org/acme/app': 'acme/app',
    'https://token@example.org/acme/app.git/': 'acme/app',
    'ssh://git@example.org:22/acme/app.git': 'acme/app',
    'https://example.org/group/part/app.git': 'group/part/app',
    '/srv/git/app.git': undefined,
    '../app.git': undefined,
    'file:///srv/git/app.git': undefined,
  }
  for (const [origin, name] of Object.entries(names)) expect([origin, ownerAndName(origin)]).toEqual([origin, name])
})

test('of more worktrees than a hub takes, those that were given, are needed and are the newest are named, and what is left out is said', async () => {
  const all = Array.from({ length: 205 }, (_, i) => ({ path: `/w/${i}`, home: '/w/0', name: 'app' }))
  let asked = 0
  const named = async (given: number, own: number, spare: number[] = []) => {
    const said: string[] = []
    const needed = async () => {
      asked++
      return new Set(all.map(({ path }) => path).filter((path) => !spare.includes(Number(path.slice(3)))))
    }
    const told = await namedWorktrees(all.slice(0, given), all.slice(0, given + own), needed, (line) => said.push(line))
    return [told.map(({ path }) => Number(path.slice(3))), said] as const
  }
  const [paths, said] = await named(2, 203)
  expect(paths).toEqual([0, 1, ...Array.from({ length: 198 }, (_, i) => 7 + i)])
  expect(said).toEqual([
    expect.stringMatching(/^5 of the 203 worktrees .* 0 of archived sessions and the 5 oldest .*`runner prune` removes/),
  ])
  const without = (...left: number[]) => all.map((_, i) => i).filter((i) => !left.includes(i))
  expect(await named(2, 203, [1, 9, 100, 204])).toEqual([without(2, 3, 9, 100, 204), [expect.stringContaining(' 3 of archived')]])
  expect((await named(2, 203, without(204)))[0]).toEqual(without(2, 3, 4, 5, 6))
  expect(asked).toBe(3)
  expect((await named(2, 198)).map(({ length }) => length)).toEqual([200, 0])
  expect(asked).toBe(3)
  expect((await named(201, 2))[0]).toHaveLength(201) // which the hub refuses: a person named them
})

test('a git that is too old to say absolute paths, and says what it does not know back, finds the same', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'parley-git-')))
  ending.push(() => rmSync(folder, { recursive: true }))
  const ask = gitIn(process.env)
  const old: Git = async (at, ...words) => {
    const known = words.filter((word) => !word.startsWith('--path-format'))
    return [...words.filter((word) => !known.includes(word)), await ask(at, ...known)].join('\n')
  }
  await ask(folder, 'init', '-q')
  mkdirSync(join(folder, 'deep/er'), { recursive: true })
  for (const at of ['.', 'deep', 'deep/er'])
    expect(await repositoryAt(old, join(folder, at))).toEqual({ path: folder, home: folder, name: basename(folder) })
})

// A runner that starts asks this of each of its worktrees, and may have two hundred.
test('where a worktree stands is one question to git, and whose it is are two', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'parley-git-')))
  ending.push(() => rmSync(folder, { recursive: true }))
  const at = join(folder, 'a\nb') // which is asked once more
  const ask = gitIn(process.env)
  let asked = 0
  const counted: Git = (place, ...words) => {
    asked++
    return ask(place, ...words)
  }
  const state = async () => {
    asked = 0
    const found = await stateOf(counted, at)
    expect(asked).toBe(1)
    return found
  }
  git(folder, 'init', '-q', '-b', 'main', at)
  expect(await state()).toEqual({ branch: 'main', head: null, changed: 0 })
  writeFileSync(join(at, '# before'), 'The text by which git knows it again.\n')
  git(at, 'add', '.')
  git(at, '-c', 'user.email=a@example.org', '-c', 'user.name=A', 'commit', '-q', '-m', 'First')
  const head = git(at, 'rev-parse', 'HEAD')
  git(at, 'mv', '# before', 'after')
  writeFileSync(join(at, 'new'), '')
  expect(await state()).toEqual({ branch: 'main', head, changed: 2 })
  git(at, 'checkout', '-q', '--detach')
  expect(await state()).toEqual({ branch: null, head, changed: 2 })
  writeFileSync(join(at, '.git/index'), 'x')
  expect(await stateOf(ask, at)).toEqual({ branch: null, head, changed: undefined })
  const old: Git = (place, ...words) => ask(place, ...words.map((word) => word.replace('--no-ahead-behind', '--unknown')))
  rmSync(join(at, '.git/index'))
  expect(await stateOf(old, at)).toMatchObject({ branch: null, head })
  expect((await stateOf(old, at)).changed).toBeGreaterThan(0)
  git(folder, 'init', '-q', join(folder, 'plain'))
  mkdirSync(join(folder, 'plain/deep'))
  symlinkSync(join(folder, 'plain/deep'), join(folder, 'link'))
  for (const [place, found, questions] of [
    [join(folder, 'plain/deep'), join(folder, 'plain'), 2],
    [join(folder, 'link'), join(folder, 'plain'), 2],
    [at, at, 4],
  ] as const) {
    asked = 0
    expect(await repositoryAt(counted, place)).toEqual({ path: found, home: found, name: basename(found) })
    expect(asked).toBe(questions)
  }
  asked = 0
  const plain = join(folder, 'plain')
  expect(await repositoryAt(counted, plain, new Map([[plain, 'acme/app']]))).toEqual({ path: plain, home: plain, name: 'acme/app' })
  expect(asked).toBe(1)
})

test('of worktrees whose folders are gone, git forgets one at a branch, and none that is locked or on no branch', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'parley-git-')))
  ending.push(() => rmSync(folder, { recursive: true }))
  const at = (name: string) => join(folder, name)
  git(folder, 'init', '-q', at('app'))
  git(at('app'), '-c', 'user.email=a@example.org', '-c', 'user.name=A', 'commit', '-q', '--allow-empty', '-m', 'First')
  for (const name of ['branch', 'locked', 'there']) git(at('app'), 'worktree', 'add', '-q', at(name))
  git(at('app'), 'worktree', 'add', '-q', '--detach', at('detached'))
  git(at('app'), 'worktree', 'lock', at('locked'))
  for (const name of ['branch', 'locked', 'detached']) rmSync(at(name), { recursive: true })
  for (const name of ['branch', 'locked', 'detached', 'never']) await forgetMissing(gitIn(process.env), at('app'), at(name))
  const listed = git(at('app'), 'worktree', 'list', '--porcelain').match(/(?<=^worktree ).*/gm)
  expect(listed?.toSorted()).toEqual(['app', 'detached', 'locked', 'there'].map(at))
})

test('of two clones of a repository, a worktree is made of the one that is named, else of the first', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'parley-git-')))
  ending.push(() => rmSync(folder, { recursive: true }))
  const clones = ['stable', 'next'].map((name) => join(folder, name))
  for (const clone of clones) {
    git(folder, 'init', '-q', '-b', 'main', clone)
    git(clone, '-c', 'user.email=a@example.org', '-c', 'user.name=A', 'commit', '-q', '--allow-empty', '-m', clone)
    git(clone, 'remote', 'add', 'origin', 'https://example.org/acme/app')
  }
  const ask = gitIn(process.env)
  const repositories = await Promise.all(clones.map((clone) => repositoryAt(ask, clone)))
  for (const [repo_path, home] of [...clones.map((clone) => [clone, clone]), [null, clones[0]!], ['/elsewhere', clones[0]!]] as const) {
    const order = { session_id: crypto.randomUUID(), repo_full_name: 'acme/app', repo_path, branch: `for-${crypto.randomUUID()}` }
    const made = await makeWorktree(ask, repositories, [], order)
    expect([made.home, git(made.path, 'log', '--format=%s')]).toEqual([home, home])
  }
})

test('a new branch begins at the HEAD of the worktree that its order names, while that is there, else at its repository’s', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'parley-git-')))
  ending.push(() => rmSync(folder, { recursive: true }))
  const [home, side] = [join(folder, 'app'), join(folder, 'side')]
  const commit = (at: string, subject: string) =>
    git(at, '-c', 'user.email=a@example.org', '-c', 'user.name=A', 'commit', '-q', '--allow-empty', '-m', subject)
  git(folder, 'init', '-q', '-b', 'main', home)
  commit(home, 'of main')
  git(home, 'worktree', 'add', '-q', '-b', 'side', side)
  commit(side, 'of side')
  const ask = gitIn(process.env)
  const repositories = await Promise.all([home, side].map((at) => repositoryAt(ask, at)))
  const beginsAt = async (order: { repo_path: string | null; begins_there?: boolean }) => {
    const branch = `for-${crypto.randomUUID()}`
    const made = await makeWorktree(ask, repositories, [], { session_id: crypto.randomUUID(), repo_full_name: 'app', branch, ...order })
    return git(made.path, 'log', '-1', '--format=%s')
  }
  expect(await beginsAt({ repo_path: side, begins_there: true })).toBe('of side')
  expect(await beginsAt({ repo_path: side, begins_there: false })).toBe('of main')
  expect(await beginsAt({ repo_path: side })).toBe('of main') // as an earlier hub orders it
  expect(await beginsAt({ repo_path: '/elsewhere', begins_there: true })).toBe('of main')
  rmSync(side, { recursive: true })
  expect(await beginsAt({ repo_path: side, begins_there: true })).toBe('of main')
})

test('a git that takes too long is said as one, and not by what it printed last; a checkout may take longer', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-git-'))
  ending.push(() => rmSync(folder, { recursive: true }))
  writeFileSync(
    join(folder, 'git'),
    `#!/bin/sh\n[ $1 = config ] && exit\necho "Preparing worktree (new branch 'x')" >&2\nfor last; do :; done\nexec sleep $last\n`,
    { mode: 0o755 },
  )
  const env = { PATH: `${folder}:${process.env.PATH}` }
  const asked = (git: Git, ...words: string[]) => git(folder, ...words).catch(({ message }) => message)
  expect(await asked(gitIn(env, 20_000, 500), 'worktree', 'add', '20')).toBe('git did not finish within 0.5 s')
  const ask = gitIn(env, 500)
  expect(await Promise.all([asked(ask, 'status', '-z', '20'), asked(ask, 'worktree', 'add', '0.7')])).toEqual([
    'git did not finish within 0.5 s',
    '',
  ])
})

test('a worktree that is whole is taken whatever became of the git that made it, and one that is not is not; no hook is run', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'parley-git-')))
  ending.push(() => rmSync(folder, { recursive: true }))
  const home = join(folder, 'app')
  git(folder, 'init', '-q', '-b', 'main', home)
  writeFileSync(join(home, 'a.txt'), 'a')
  git(home, 'add', '.')
  git(home, '-c', 'user.email=a@example.org', '-c', 'user.name=A', 'commit', '-q', '-m', 'First')
  const ask = gitIn(process.env)
  const repositories = [await repositoryAt(ask, home)]
  const make = (asked: Git) => {
    const branch = `for-${crypto.randomUUID()}`
    return makeWorktree(asked, repositories, [], { session_id: crypto.randomUUID(), repo_full_name: 'app', branch })
  }
  const halfway: Git = async (at, ...words) => {
    if (words[0] !== 'reset') return ask(at, ...words)
    throw new GitFailed('killed')
  }
  expect(await make(halfway).catch(({ message }) => message)).toBe('killed')
  const late: Git = async (at, ...words) => {
    const answer = await ask(at, ...words)
    if (words[0] === 'reset') throw new GitFailed('killed once all was there')
    return answer
  }
  writeFileSync(join(home, '.git/hooks/post-checkout'), `#!/bin/sh\ntouch ${folder}/hooked\nexit 1\n`, { mode: 0o755 })
  for (const asked of [ask, late]) expect(readFileSync(join((await make(asked)).path, 'a.txt'), 'utf8')).toBe('a')
  expect(existsSync(join(folder, 'hooked'))).toBe(false)
})

test('a worktree whose making was cut off is made anew, after the git that may still make it was ended; one that was made stays as it is', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'parley-git-')))
  ending.push(() => rmSync(folder, { recursive: true }))
  const home = join(folder, 'app')
  git(folder, 'init', '-q', '-b', 'main', home)
  const slow = `test -e ${folder}/begun || { touch ${folder}/begun; sleep 60; }; cat` // the first alone
  git(folder, 'config', '--file', '.gitconfig', 'filter.slow.smudge', slow)
  writeFileSync(join(home, '.gitattributes'), '*.txt filter=slow\n')
  writeFileSync(join(home, 'a.txt'), 'a')
  git(home, 'add', '.')
  git(home, '-c', 'user.email=a@example.org', '-c', 'user.name=A', 'commit', '-q', '-m', 'First')
  const ask = gitIn({ ...process.env, HOME: folder })
  const repositories = [await repositoryAt(ask, home)]
  const order = { session_id: crypto.randomUUID(), repo_full_name: 'app', branch: 'one' }
  const path = join(folder, '.parley-worktrees', `app-one-${order.session_id.slice(0, 8)}`)
  const made = { ...order, hub: 'http://127.0.0.1:7423', path, home }
  const state = () => [readFileSync(join(path, 'a.txt'), 'utf8'), git(path, 'status', '--porcelain')]

  let ended = false
  const unheard: Git = (at, ...words) => {
    if (words[0] !== 'reset') return ask(at, ...words)
    return ask(at, ...words).catch(() => {
      ended = true
      return new Promise<never>(() => {})
    })
  }
  void makeWorktree(unheard, repositories, [], order)
  await until(() => existsSync(join(folder, 'begun'))) // its runner is killed now, and the next one gets the order again
  expect((await makeWorktree(ask, repositories, [], order)).path).toBe(path)
  expect([ended, ...state()]).toEqual([true, 'a', ''])

  const inGit = (name: string) => git(path, 'rev-parse', '--git-path', name)
  const cutOff = () => {
    writeFileSync(inGit('locked'), 'initializing')
    writeFileSync(inGit('index.lock'), '')
    for (const file of [inGit('index'), join(path, 'a.txt')]) rmSync(file)
  }
  cutOff() // as where git was killed too
  expect((await makeWorktree(ask, repositories, [], order)).path).toBe(path)
  expect(state()).toEqual(['a', ''])
  cutOff()
  writeFileSync(join(path, 'new.txt'), 'of an agent')
  await makeWorktree(ask, repositories, [made], order)
  expect(readFileSync(join(path, 'new.txt'), 'utf8')).toBe('of an agent')
}, 180_000)

test('where the files of a worktree cannot be written nothing of it is left, and the next session at its branch gets one', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'parley-git-')))
  ending.push(() => rmSync(folder, { recursive: true }))
  const home = join(folder, 'app')
  git(folder, 'init', '-q', '-b', 'main', home)
  for (const [name, value] of [
    ['smudge', `test -e ${folder}/mended && cat`],
    ['required', 'true'],
  ] as const)
    git(folder, 'config', '--file', '.gitconfig', `filter.broken.${name}`, value)
  writeFileSync(join(home, '.gitattributes'), '*.txt filter=broken\n')
  writeFileSync(join(home, 'a.txt'), 'a')
  git(home, 'add', '.')
  git(home, '-c', 'user.email=a@example.org', '-c', 'user.name=A', 'commit', '-q', '-m', 'First')
  const ask = gitIn({ ...process.env, HOME: folder })
  const repositories = [await repositoryAt(ask, home)]
  const make = () => makeWorktree(ask, repositories, [], { session_id: crypto.randomUUID(), repo_full_name: 'app', branch: 'one' })
  const listed = () => git(home, 'worktree', 'list', '--porcelain')
  expect(await make().catch(({ message }) => message)).toContain('filter')
  expect([readdirSync(join(folder, '.parley-worktrees')), listed().match(/^worktree /gm)]).toEqual([[], ['worktree ']])
  writeFileSync(join(folder, 'mended'), '')
  expect(readFileSync(join((await make()).path, 'a.txt'), 'utf8')).toBe('a')
  expect(listed()).not.toContain('locked')
})

test('git is asked sixteen things at once, however many worktrees there are', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-git-'))
  ending.push(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'git'), `#!/bin/sh\necho begun >> log\nsleep 0.4\necho ended >> log\n`, { mode: 0o755 })
  const ask = gitIn({ PATH: `${folder}:${process.env.PATH}` })
  await Promise.all(Array.from({ length: 24 }, () => ask(folder, 'status')))
  let [now, most] = [0, 0]
  for (const line of readFileSync(join(folder, 'log'), 'utf8').trim().split('\n')) most = Math.max(most, (now += line === 'begun' ? 1 : -1))
  expect([now, most <= 16]).toEqual([0, true])
})

test('a folder whose config calls another one its worktree is not offered as that', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'parley-git-')))
  ending.push(() => rmSync(folder, { recursive: true }))
  const at = join(folder, 'app')
  git(folder, 'init', '-q', at)
  mkdirSync(join(at, 'deep'))
  symlinkSync(join(at, 'deep'), join(folder, 'link'))
  const ask = gitIn(process.env)
  const offered = (...names: string[]) =>
    worktreesAt(
      ask,
      names.map((name) => join(folder, name)),
    ).catch(({ message }) => message)
  expect(await offered('app', 'app/deep', 'link')).toMatchObject([{ path: at, home: at }])
  git(at, 'config', 'core.worktree', folder)
  for (const name of ['app', 'app/deep', 'link'])
    expect(await offered(name)).toBe(
      `The config of git in ${at} calls another folder its worktree, ${folder}. Take that out: git -C ${at} config --unset core.worktree`,
    )
})

test('this machine has several names, and all of them lead to one hub', () => {
  const hub = 'http://127.0.0.1:7423'
  for (const same of ['http://127.0.0.1:7423/', 'http://localhost:7423', 'http://[::1]:7423']) expect(isSameHub(hub, same)).toBe(true)
  for (const other of ['http://127.0.0.1:7424', 'https://127.0.0.1:7423', 'http://127.0.0.1:7423/below', 'http://example.org:7423'])
    expect(isSameHub(hub, other)).toBe(false)
})

test(
  'each kind of worktree is registered once, with what git says of it',
  async () => {
    const { hub, site } = await scene()
    const detached = site.repository('detached')
    git(detached, 'checkout', '-q', '--detach')
    const empty = site.repository('empty', false)
    const linked = site.path('linked')
    git(site.app, 'worktree', 'add', '-q', '-b', 'side', linked)
    git(site.app, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', detached, 'sub')
    symlinkSync(site.app, site.path('by-link'))
    mkdirSync(join(site.app, 'deep'))
    const given = [site.app, site.path('by-link'), join(site.app, 'deep'), detached, empty, linked, join(site.app, 'sub')]
    await site.start(
      hub,
      given.flatMap((path) => ['--worktree', path]),
    )
    const head = git(site.app, 'rev-parse', 'HEAD')
    expect(hub.registered.worktrees).toMatchObject([
      { path: site.app, repo_full_name: 'app', branch: 'main', head, dirty: true },
      { path: detached, repo_full_name: 'detached', branch: null, dirty: false },
      { path: empty, repo_full_name: 'empty', branch: 'main', head: null, dirty: false },
      { path: linked, repo_full_name: 'app', branch: 'side', head, dirty: false },
      { path: join(site.app, 'sub'), repo_full_name: 'sub' },
    ])
    expect(hub.registered.worktrees).toHaveLength(5)
    const task = hub.prompt(
      empty,
      steps({ sync: 'echo 1 > a && git add a && git -c user.email=a@example.org -c user.name=A commit -qm First' }),
    )
    await until(() => task.finished)
    expect(task.finished).toMatchObject({
      branch: 'main',
      head: git(empty, 'rev-parse', 'HEAD'),
      changes: { files: 1, added: 1, removed: 0 },
    })
  },
  LONG_MS,
)

test(
  'a session gets a worktree of its own, once, whose tasks run there; the next runner has it still, and what a conversation has cost',
  async () => {
    const { hub, site } = await scene()
    const runner = await site.start(hub)
    const order = { session_id: crypto.randomUUID(), repo_full_name: 'app', branch: 'feature/one' }
    hub.wantWorktree(order)
    await until(() => hub.made.length === 1)
    const [{ path, branch, head }] = hub.made
    expect([path, branch, head]).toEqual([
      site.path('.parley-worktrees', `app-feature-one-${order.session_id.slice(0, 8)}`),
      'feature/one',
      git(site.app, 'rev-parse', 'HEAD'),
    ])
    hub.wantWorktree(order) // its answer was lost
    await until(() => hub.made.length === 2)
    expect(hub.made[1]).toEqual(hub.made[0])
    const task = hub.prompt(path, steps({ sync: 'echo 1 > here.txt' }, { cost: 0.25 }))
    await until(() => task.finished)
    expect(existsSync(join(path, 'here.txt'))).toBe(true)
    runner.child.kill('SIGTERM')
    await runner.ended
    await site.start({ url: hub.url.replace('127.0.0.1', 'localhost'), key: hub.key }) // the same hub
    expect(hub.registered.worktrees).toMatchObject([
      { path: site.app },
      { path, repo_full_name: 'app', branch: 'feature/one', dirty: true },
    ])
    const next = hub.prompt(path, steps({ input: true }), { conversation: 'c-1' })
    await until(() => next.finished)
    expect(JSON.parse(next.events[0]!.content.text).start).toMatchObject({ conversation: 'c-1', costBefore: 0.25 })
  },
  LONG_MS,
)

test(
  'an order for a branch that exists takes it, also of a remote, and the worktree that has it; one checked out elsewhere, a repository unknown, or a folder in the way is told',
  async () => {
    const { hub, site } = await scene()
    git(site.app, 'branch', 'there')
    writeFileSync(join(site.app, 'readme.txt'), 'changed\n')
    git(site.app, 'commit', '-qam', 'Second')
    const empty = site.repository('empty', false)
    await site.start(hub, ['--worktree', site.app, '--worktree', empty])
    const told = async (repo_full_name: string, branch: string, session_id = crypto.randomUUID() as string) => {
      hub.wantWorktree({ session_id, repo_full_name, branch })
      await until(() => hub.made.some((made) => made.session_id === session_id))
      return hub.made.at(-1)
    }
    expect(await told('app', 'there')).toMatchObject({ branch: 'there', head: git(site.app, 'rev-parse', 'HEAD^') })
    const [{ path: there }] = hub.made
    // As when the one who wanted it first has given up, or two wanted it at once.
    expect(await told('app', 'there')).toMatchObject({ path: there, branch: 'there' })
    expect(await told('app', 'main')).toMatchObject({ path: site.app, branch: 'main' })
    for (const remote of ['origin', 'fork']) git(site.app, 'remote', 'add', remote, site.path('elsewhere'))
    for (const ref of ['origin/afar', 'origin/both', 'fork/both', 'origin/deep/er'])
      git(site.app, 'update-ref', `refs/remotes/${ref}`, 'HEAD^')
    const [before, head] = ['HEAD^', 'HEAD'].map((commit) => git(site.app, 'rev-parse', commit))
    expect(await told('app', 'afar')).toMatchObject({ branch: 'afar', head: before })
    expect(git(site.app, 'rev-parse', '--abbrev-ref', 'afar@{upstream}')).toBe('origin/afar')
    expect(readFileSync(join(hub.made.at(-1).path, 'readme.txt'), 'utf8')).not.toBe('changed\n')
    for (const branch of ['both', 'er', 'deep']) expect(await told('app', branch)).toMatchObject({ branch, head })
    git(site.app, 'worktree', 'add', '-q', '-b', 'private', site.path('private'))
    expect((await told('app', 'private')).error.message).toContain(`is checked out in ${site.path('private')}, which this runner does not`)
    for (const removed of [there, site.path('private')]) rmSync(removed, { recursive: true })
    const anew = await told('app', 'there')
    expect(anew).toMatchObject({ branch: 'there', head: git(site.app, 'rev-parse', 'there') })
    expect(anew.path).not.toBe(there)
    expect(git(anew.path, 'branch', '--show-current')).toBe('there')
    expect((await told('app', 'private')).error.message).toContain(`at '${site.path('private')}'`) // its disk may be away
    expect((await told('acme/none', 'x')).error.message).toContain('has no repository "acme/none"')
    expect((await told('empty', 'x')).error.message).toContain('has no commit yet')
    const session = crypto.randomUUID()
    mkdirSync(site.path('.parley-worktrees', `app-x-${session.slice(0, 8)}`))
    expect((await told('app', 'x', session)).error.message).toContain('is there already')
  },
  LONG_MS,
)

test.skipIf(!FULL)(
  'of more than 200 worktrees that a runner made, it leaves those out that sessions need no more',
  async () => {
    const { hub, site } = await scene()
    const base = hub.url.replace('127.0.0.1', 'localhost') // the same hub
    git(site.app, 'worktree', 'add', '-q', '-b', 'made', site.path('first'))
    const copy = (i: number) => {
      const path = site.path(`made-${i}`)
      mkdirSync(path)
      copyFileSync(site.path('first', '.git'), join(path, '.git')) // git takes seconds to make so many
      return { hub: base, session_id: crypto.randomUUID(), path, home: site.app, branch: 'made' }
    }
    const made = Array.from({ length: 201 }, (_, i) => copy(i))
    for (const i of [120, 150, 200]) hub.archived.add(made[i]!.session_id)
    keepMade(site.path('home'), [...made, { ...made[120]!, session_id: crypto.randomUUID() }]) // which another one goes on in
    const runner = site.launch(hub, ['--worktree', site.app])
    await until(() => runner.output().includes('Registered as'), LONG_MS)
    const named = hub.registered.worktrees.map(({ path }: { path: string }) => path)
    expect(made.flatMap(({ path }, i) => (named.includes(path) ? [] : [i]))).toEqual([150, 200])
    expect(runner.output()).toContain('2 of the 201 worktrees that this runner has made are not offered, 2 of archived sessions')
  },
  LONG_MS,
)

test('the worktrees that sessions need are those of sessions that are not archived, and all where the hub does not tell', async () => {
  const { hub, site } = await scene()
  const made = Array.from({ length: 250 }, (_, i) => ({
    hub: hub.url,
    session_id: crypto.randomUUID(),
    path: `/w/${i}`,
    home: '/w',
    branch: 'b',
  }))
  const others = { ...made[0]!, hub: 'http://127.0.0.1:1', path: '/w/other' }
  keepMade(site.path('home'), [...made, others])
  for (const i of [3, 230]) hub.archived.add(made[i]!.session_id)
  const calls = hubCalls(hub.url, hub.key, () => {})
  const needed = async () => [...(await neededPaths(calls, { home: site.path('home'), base: hub.url }, new AbortController().signal))]
  const allBut = (...which: number[]) => made.flatMap(({ path }, i) => (which.includes(i) ? [] : [path]))
  expect(await needed()).toEqual(allBut(3, 230))
  hub.inUse.add('/w/230') // by a session that was opened there since
  expect(await needed()).toEqual(allBut(3))
  hub.takeNoPaths() // as an earlier version
  expect(await needed()).toEqual(allBut(3, 230))
  hub.knowNoMore('archived')
  expect(await needed()).toEqual(made.map(({ path }) => path))
})

test(
  'prune removes the worktrees of archived sessions, and keeps what is in no commit unless it is told to',
  async () => {
    const { hub, site } = await scene()
    git(site.app, 'worktree', 'add', '-q', '-b', 'given', site.path('given'))
    const runner = await site.start(hub, ['--worktree', site.app, '--worktree', site.path('given')])
    const branches = ['clean', 'dirty', 'loose', 'cut', 'gone', 'shared', 'given', 'alive']
    const sessions = [...branches, 'shared'].map((branch) => ({ branch, session_id: crypto.randomUUID(), repo_full_name: 'app' }))
    const second = sessions.at(-1)! // goes on where the first one worked
    for (const order of sessions) hub.wantWorktree(order)
    await until(() => hub.made.length === 9)
    runner.child.kill('SIGTERM')
    await runner.ended
    const at = (branch: string): string => hub.made.find((made) => made.branch === branch).path
    writeFileSync(join(at('dirty'), 'new.txt'), 'not committed')
    writeFileSync(git(at('cut'), 'rev-parse', '--git-path', 'index'), 'x') // as where git is killed while it writes
    rmSync(at('gone'), { recursive: true })
    git(at('clean'), 'checkout', '-q', '--detach') // its commit is on a branch
    git(at('loose'), 'checkout', '-q', '--detach')
    git(at('loose'), 'commit', '-q', '--allow-empty', '-m', 'On no branch')
    for (const { branch, session_id } of sessions) if (branch !== 'alive' && session_id !== second.session_id) hub.archived.add(session_id)
    const pruned = async (...words: string[]) => {
      const { code, out } = await site.run(['runner', 'prune', '--url', hub.url.replace('127.0.0.1', 'localhost'), ...words], {
        PARLEY_RUNNER_KEY: hub.key,
      })
      return { code, out, there: branches.filter((branch) => existsSync(at(branch))) }
    }
    const first = await pruned()
    expect(first).toMatchObject({ code: 0, there: ['dirty', 'loose', 'cut', 'shared', 'given', 'alive'] })
    expect(first.out).toContain(`kept     ${at('dirty')}: 1 changed file(s) that are in no commit\n`)
    expect(first.out).toContain(`kept     ${at('loose')}: commits that are on no branch\n`)
    expect(first.out).toContain(`kept     ${at('cut')}: git does not tell what has changed there\n`)
    hub.archived.add(second.session_id)
    expect(await pruned('--yes')).toEqual({ code: 0, out: expect.stringContaining('Removed 3 of the 5'), there: ['cut', 'given', 'alive'] })
    expect(git(site.app, 'worktree', 'list')).not.toContain(at('gone'))
    const left = git(site.app, 'branch', '--format', '%(refname:short)').split('\n')
    expect(left).toEqual(['alive', 'clean', 'cut', 'dirty', 'given', 'gone', 'loose', 'main', 'shared'])
    hub.revoke()
    const { code, err } = await site.run(['runner', 'prune', '--url', hub.url], { PARLEY_RUNNER_KEY: hub.key })
    expect([code, err]).toEqual([1, expect.stringContaining('Nothing was removed')])
  },
  LONG_MS,
)

// What prune is to remove: worktrees that a runner made for sessions of these branches, all of them archived.
const prunable = async (...branches: string[]) => {
  const { hub, site } = await scene()
  const runner = await site.start(hub)
  for (const branch of branches) hub.wantWorktree({ branch, session_id: crypto.randomUUID(), repo_full_name: 'app' })
  await until(() => hub.made.length === branches.length)
  runner.child.kill('SIGTERM')
  await runner.ended
  for (const { session_id } of hub.made) hub.archived.add(session_id)
  const { url: base, key } = hub
  return {
    hub,
    site,
    at: (branch: string): string => hub.made.find((made) => made.branch === branch).path,
    /** With a person who hears each question before they say yes. */
    async prunedAsking(asks: (question: string) => unknown) {
      const input = Object.assign(new PassThrough(), { isTTY: true })
      let said = ''
      const write = (text: string) => {
        said += text
        if (!text.endsWith('[y/N] ')) return
        asks(text)
        input.write('y\n')
      }
      const here = { folder: site.folder, program: '', runtime: '', pid: process.pid }
      const machine = { ...here, env: process.env, home: site.path('home'), input, out: { write }, err: { write } }
      await prune(machine, gitIn(process.env), hubCalls(base, key, write), { base, yes: false })
      return said
    },
    pruned: (...words: string[]) => site.run(['runner', 'prune', '--url', hub.url, ...words], { PARLEY_RUNNER_KEY: hub.key }),
  }
}

test(
  'prune keeps a file that nobody has added to a commit, also where git was told to show none',
  async () => {
    const { site, at, pruned } = await prunable('untracked')
    git(site.app, 'config', 'status.showUntrackedFiles', 'no')
    writeFileSync(join(at('untracked'), 'new.txt'), 'not committed')
    expect((await stateOf(gitIn(process.env), at('untracked'))).changed).toBe(1)
    const { code, out } = await pruned()
    expect([code, out]).toEqual([0, expect.stringContaining(`kept     ${at('untracked')}: 1 changed file(s) that are in no commit\n`)])
    expect(readFileSync(join(at('untracked'), 'new.txt'), 'utf8')).toBe('not committed')
    expect((await pruned('--yes')).out).toContain(`removed  ${at('untracked')}\n`)
    expect(existsSync(at('untracked'))).toBe(false)
  },
  LONG_MS,
)

test(
  'prune keeps what a session needs again, or what has changed, since a person was asked, and forgets no session that came meanwhile',
  async () => {
    const { hub, site, at, prunedAsking } = await prunable('back', 'another', 'written', 'left', 'later')
    const branches = ['back', 'another', 'written', 'left', 'later']
    for (const branch of branches) writeFileSync(join(at(branch), 'new.txt'), 'not committed')
    const home = site.path('home')
    const comesTo = (branch: string) => {
      const session_id = crypto.randomUUID()
      keepMade(home, [...madeOnes(home), { ...madeOnes(home).find(({ path }) => path === at(branch))!, session_id }])
      return session_id
    }
    const meanwhile: Record<string, () => unknown> = {
      back: () => hub.archived.delete(hub.made.find(({ branch }) => branch === 'back').session_id),
      another: () => comesTo('another'),
      written: () => writeFileSync(join(at('written'), 'more.txt'), 'of an agent that works again'),
      left: () => {},
      later: () => hub.archived.add(comesTo('later')),
    }
    const said = await prunedAsking((question) => meanwhile[branches.find((branch) => question.includes(`${at(branch)} has`))!]!())
    expect(branches.filter((branch) => existsSync(at(branch)))).toEqual(['back', 'another', 'written'])
    for (const branch of ['back', 'another']) expect(said).toContain(`kept     ${at(branch)}: a session needs it again\n`)
    expect(said).toContain(`kept     ${at('written')}: it has changed meanwhile\n`)
    expect(said).toContain('Removed 2 of the 5 worktree(s)')
    expect(madeOnes(home).map(({ branch }) => branch)).toEqual(['back', 'another', 'written', 'another', 'later'])
  },
  LONG_MS,
)

test.skipIf(!FULL)(
  'prune asks about repositories of submodules, which git removes with the worktree, and with --yes removes both',
  async () => {
    const { site, at, pruned } = await prunable('checked-out', 'left', 'nested', 'never')
    const part = site.repository('part')
    const allowed = ['-c', 'protocol.file.allow=always', 'submodule', '--quiet']
    for (const branch of ['checked-out', 'left', 'never']) {
      git(at(branch), ...allowed, 'add', part, 'sub')
      git(at(branch), 'commit', '-q', '-m', 'With a part')
    }
    git(at('left'), 'rm', '-q', 'sub') // its repository is there still
    git(at('left'), 'commit', '-q', '-m', 'Without it')
    git(site.app, 'worktree', 'remove', '--force', at('never'))
    git(site.app, 'worktree', 'add', '-q', at('never'), 'never') // where it was never fetched
    git(at('nested'), 'init', '-q', 'sub')
    git(join(at('nested'), 'sub'), '-c', 'user.email=a@example.org', '-c', 'user.name=A', 'commit', '-q', '--allow-empty', '-m', 'First')
    git(at('nested'), 'add', 'sub')
    git(at('nested'), 'commit', '-q', '-m', 'A repository in it')
    const there = () => ['checked-out', 'left', 'nested', 'never'].filter((branch) => existsSync(at(branch)))
    for (const branch of there()) expect((await stateOf(gitIn(process.env), at(branch))).changed).toBe(0)
    const { code, out } = await pruned()
    expect([code, there()]).toEqual([0, ['checked-out', 'left', 'nested']])
    for (const branch of there()) expect(out).toContain(`kept     ${at(branch)}: repositories of submodules, which go with it\n`)
    expect(await pruned('--yes')).toMatchObject({ code: 0, out: expect.stringContaining('Removed 3 of the 3 worktree(s)') })
    expect(there()).toEqual([])
    expect(git(site.app, 'worktree', 'list').split('\n')).toHaveLength(1)
  },
  LONG_MS,
)
