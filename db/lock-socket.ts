// A socket beside the lock file: whoever shares the folder can ask it, also from another container, where the holder's pid says nothing.
import { createServer, connect } from 'node:net'

const ANSWERS_WITHIN_MS = 500 // the system answers for a process, even a frozen one

// The listener hangs up at once. Bun often reports that as a failed connect, from another process more often than not: somebody is there.
const HUNG_UP = ['ECONNRESET', 'EPIPE', 'EAGAIN']

/** Does anybody listen there? */
export const answers = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ path })
    const told = (answered: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(answered)
    }
    const timer = setTimeout(() => told(true), ANSWERS_WITHIN_MS)
    socket.once('connect', () => told(true)).on('error', ({ code }: NodeJS.ErrnoException) => told(HUNG_UP.includes(code ?? '')))
  })

/** Listens for as long as this process lives, or until the returned function is called. Where the folder takes no sockets, nobody does. */
export const listenAt = (path: string): Promise<() => void> =>
  new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', () => resolve(() => {}))
    server.listen({ path }, () => {
      server.unref()
      resolve(() => void server.close())
    })
  })
