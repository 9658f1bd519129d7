// A socket beside the lock file. Whoever shares the folder can find out by it whether the holder lives, also from another container, where
// the holder's pid says nothing.
import { createServer, connect } from 'node:net'

const ANSWERS_WITHIN_MS = 500 // the system accepts connections for a process, even for a frozen one

// The listener closes each connection at once, which Bun often reports as a failed connect. These codes mean that somebody listens.
const HUNG_UP = ['ECONNRESET', 'EPIPE', 'EAGAIN']

/** Whether somebody listens at this path. */
export const answers = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ path })
    const settle = (answered: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(answered)
    }
    const timer = setTimeout(() => settle(true), ANSWERS_WITHIN_MS)
    socket.once('connect', () => settle(true)).on('error', ({ code }: NodeJS.ErrnoException) => settle(HUNG_UP.includes(code ?? '')))
  })

/** Listens until the returned function is called or the process ends. Does nothing in a folder that takes no sockets. */
export const listenAt = (path: string): Promise<() => void> =>
  new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', () => resolve(() => {}))
    server.listen({ path }, () => {
      server.unref()
      resolve(() => void server.close())
    })
  })
