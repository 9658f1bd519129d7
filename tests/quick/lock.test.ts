import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { answers, listenAt } from '../../db/lock-socket.ts'
import { isAlive, FolderInUse, lockFolder, readHolder, serverOn } from '../../db/lock.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-lock-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const bornAt = (pid: number) => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]!
}
const held = (holder: object) => writeFileSync(join(folder, 'lock'), JSON.stringify(holder))
const endedPid = async () => {
  const child = Bun.spawn(['true'])
  await child.exited
  return child.pid
}
const onLinux = test.if(process.platform === 'linux')

describe('the lock of the embedded folder', () => {
  test('it is taken, tells where the server is, and is given back', async () => {
    const inner = join(folder, 'made', 'here')
    const lock = await lockFolder(inner)
    expect(readHolder(inner)).toMatchObject({ pid: process.pid })
    lock.announce('http://127.0.0.1:7423', 'a-secret')
    expect(readHolder(inner)).toMatchObject({ pid: process.pid, url: 'http://127.0.0.1:7423', secret: 'a-secret' })
    lock.release()
    expect(readHolder(inner)).toBeUndefined()
  })

  test('nobody but its owner reads the file', async () => {
    const lock = await lockFolder(folder)
    lock.announce('http://127.0.0.1:7423', 'a-secret')
    expect(statSync(join(folder, 'lock')).mode & 0o077).toBe(0)
  })

  onLinux('a second is refused while the first lives, with a sentence that names it', async () => {
    const child = Bun.spawn(['sleep', '60'])
    try {
      held({ pid: child.pid, born: bornAt(child.pid), url: 'http://127.0.0.1:7423' })
      await expect(lockFolder(folder)).rejects.toThrow(FolderInUse)
      await expect(lockFolder(folder)).rejects.toThrow(`process ${child.pid} at http://127.0.0.1:7423`)
      expect(readHolder(folder)).toMatchObject({ pid: child.pid })
    } finally {
      child.kill()
    }
  })

  test('the folder of a process that has ended is taken', async () => {
    held({ pid: await endedPid(), born: '1' })
    await lockFolder(folder)
    expect(readHolder(folder)).toMatchObject({ pid: process.pid })
  })

  onLinux('a holder that has ended holds nothing, even before its parent has looked', async () => {
    const parent = Bun.spawn(['sh', '-c', 'sleep 60 & echo $!; exec sleep 60'], { stdout: 'pipe' })
    try {
      const { value } = await parent.stdout.getReader().read()
      const pid = Number(new TextDecoder().decode(value))
      held({ pid, born: bornAt(pid) })
      expect(isAlive(readHolder(folder)!)).toBe(true)
      while (readFileSync(`/proc/${parent.pid}/comm`, 'utf8') !== 'sleep\n') await Bun.sleep(20) // a shell would look at once
      process.kill(pid)
      while (!readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')) await Bun.sleep(20)
      expect(isAlive(readHolder(folder)!)).toBe(false)
      await lockFolder(folder)
    } finally {
      parent.kill()
    }
  })

  onLinux('a pid that now belongs to another process holds nothing', async () => {
    const child = Bun.spawn(['sleep', '60'])
    try {
      held({ pid: child.pid, born: '1' })
      expect(isAlive(readHolder(folder)!)).toBe(false)
      await lockFolder(folder)
      expect(readHolder(folder)).toMatchObject({ pid: process.pid })
    } finally {
      child.kill()
    }
  })

  test('where the system tells no birth, a killed server’s pid may be another program’s: what to do then is said, and nobody calls there', async () => {
    const { dev, ino } = statSync(folder, { bigint: true })
    held({ pid: 0, born: '', folder: `${dev}:${ino}`, url: 'http://127.0.0.1:7423', secret: 'a-secret' }) // of pid 0 no system tells it
    await expect(lockFolder(folder)).rejects.toThrow(`If process 0 is not Parley, because the system has given`)
    await expect(lockFolder(folder)).rejects.toThrow(`delete ${join(folder, 'lock')} and try again.`)
    expect(await serverOn(folder)).toMatchObject({ pid: 0 }) // which may have its folder where there are no sockets
    writeFileSync(join(folder, 'lock.socket'), '')
    expect(await serverOn(folder)).toBeUndefined()
    rmSync(join(folder, 'lock.socket'))
    const hangUp = await listenAt(join(folder, 'lock.socket'))
    expect(await serverOn(folder)).toMatchObject({ pid: 0 })
    await expect(lockFolder(folder)).rejects.toThrow(/Postgres\.$/)
    hangUp()
  })

  test('an old file keeps its folder as long as its process lives', async () => {
    await lockFolder(folder)
    const old = new Date(Date.now() - 10 * 24 * 60 * 60_000)
    utimesSync(join(folder, 'lock'), old, old)
    await expect(lockFolder(folder)).rejects.toThrow(FolderInUse)
  })

  test('a file that was cut short holds nothing', async () => {
    writeFileSync(join(folder, 'lock'), '{"pid":')
    await lockFolder(folder)
    expect(readHolder(folder)).toMatchObject({ pid: process.pid })
  })

  test('a turn that was cut short ends by itself', async () => {
    const turn = join(folder, 'lock.turn')
    mkdirSync(turn)
    const old = new Date(Date.now() - 5_000)
    utimesSync(turn, old, old)
    await lockFolder(folder)
    expect(readHolder(folder)).toMatchObject({ pid: process.pid })
  })

  test('a holder whose pid says nothing here, as in another container, is asked through its socket', async () => {
    held({ pid: await endedPid(), born: '1', url: 'http://127.0.0.1:7423' })
    const hangUp = await listenAt(join(folder, 'lock.socket'))
    await expect(lockFolder(folder)).rejects.toThrow(`process ${readHolder(folder)!.pid} at http://127.0.0.1:7423`)
    rmSync(join(folder, 'lock'))
    await expect(lockFolder(folder)).rejects.toThrow('in use by another process')
    hangUp()
    await lockFolder(folder)
    expect(readHolder(folder)).toMatchObject({ pid: process.pid })
  })

  test('a holder that was killed leaves a socket behind that holds nothing, however long its path', async () => {
    const deep = join(folder, 'x'.repeat(120))
    const child = Bun.spawn([process.execPath, '-e', scriptOf(deep)], { stdin: 'pipe', stdout: 'pipe' })
    await child.stdout.getReader().read()
    expect(existsSync(join(deep, 'lock.socket'))).toBe(true)
    await expect(lockFolder(deep)).rejects.toThrow(FolderInUse)
    child.kill('SIGKILL')
    await child.exited
    const lock = await lockFolder(deep)
    expect(readHolder(deep)).toMatchObject({ pid: process.pid })
    lock.release()
    expect(readdirSync(deep)).toEqual([])
  })

  test('a holder in another process answers at its socket every time it is asked', async () => {
    const child = Bun.spawn([process.execPath, '-e', scriptOf(folder)], { stdin: 'pipe', stdout: 'pipe' })
    await child.stdout.getReader().read()
    try {
      const asking = `const { answers } = await import(${JSON.stringify(join(import.meta.dir, '../../db/lock-socket.ts'))})
        for (let asked = 0; asked < 20; asked++) console.log(await answers(${JSON.stringify(join(folder, 'lock.socket'))}))`
      const { stdout } = Bun.spawnSync([process.execPath, '-e', asking])
      expect(stdout.toString()).toBe('true\n'.repeat(20))
      held({ pid: await endedPid(), born: '1' })
      await expect(lockFolder(folder)).rejects.toThrow(FolderInUse)
    } finally {
      child.kill('SIGKILL')
    }
  })

  test('a copy of the folder belongs to nobody and leads to no server; the folder does', async () => {
    const [original, copy] = [join(folder, 'original'), join(folder, 'copy')]
    const lock = await lockFolder(original)
    lock.announce('http://127.0.0.1:7423', 'a-secret')
    cpSync(join(original, 'lock'), join(copy, 'lock'))
    expect(readHolder(copy)).toBeUndefined()
    expect(await serverOn(copy)).toBeUndefined()
    expect(await serverOn(original)).toMatchObject({ url: 'http://127.0.0.1:7423', secret: 'a-secret' })
    const second = await lockFolder(copy)
    await expect(lockFolder(original)).rejects.toThrow(FolderInUse)
    second.release()
    lock.release()
  })

  test('a copy whose database is a link, as in the original, is refused while that is held', async () => {
    const [original, copy, files] = [join(folder, 'original'), join(folder, 'copy'), join(folder, 'elsewhere')]
    for (const made of [original, copy, files]) mkdirSync(made)
    writeFileSync(join(files, 'PG_VERSION'), '')
    for (const place of [original, copy]) symlinkSync(files, join(place, 'pg'))
    const lock = await lockFolder(original)
    await expect(lockFolder(copy)).rejects.toThrow(`${files} is in use by process ${process.pid}`)
    expect(readdirSync(copy)).toEqual(['pg'])
    lock.release()
    expect(readdirSync(files)).toEqual(['PG_VERSION'])
    const second = await lockFolder(copy)
    await expect(lockFolder(original)).rejects.toThrow(FolderInUse)
    second.release()
  })

  test('a link to a place without a database leaves nothing there', async () => {
    const files = join(folder, 'elsewhere')
    mkdirSync(files)
    symlinkSync(files, join(folder, 'pg'))
    await lockFolder(folder)
    expect(readdirSync(files)).toEqual([])
  })

  test('a folder that takes no sockets is held by the pid alone', async () => {
    const hangUp = await listenAt(join(folder, 'missing', 'lock.socket'))
    hangUp()
    expect(await answers(join(folder, 'missing', 'lock.socket'))).toBe(false)
  })

  const scriptOf = (of: string) => `
    import { lockFolder } from ${JSON.stringify(join(import.meta.dir, '../../db/lock.ts'))}
    try { await lockFolder(${JSON.stringify(of)}); console.log('mine') } catch (error) { console.log(error.constructor.name) }
    await new Promise((resolve) => { process.stdin.on('end', resolve).resume() })
    process.exit(0)`

  test.each(['no turn', 'a turn that was cut short'])(
    'of 8 processes that start at once on %s exactly one gets the folder',
    async (left) => {
      if (left !== 'no turn') {
        mkdirSync(join(folder, 'lock.turn'))
        utimesSync(join(folder, 'lock.turn'), new Date(0), new Date(0))
      }
      const children = Array.from({ length: 8 }, () =>
        Bun.spawn([process.execPath, '-e', scriptOf(folder)], { stdin: 'pipe', stdout: 'pipe' }),
      )
      const said = await Promise.all(
        children.map(async ({ stdout }) => new TextDecoder().decode((await stdout.getReader().read()).value).trim()),
      )
      for (const child of children) void child.stdin.end()
      await Promise.all(children.map(({ exited }) => exited))
      expect(said.toSorted()).toEqual([...Array.from({ length: 7 }, () => 'FolderInUse'), 'mine'].toSorted())
    },
  )
})
