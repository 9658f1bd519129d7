// Proxies between Parley and its Postgres, or between a client and Parley, each with one fault of real networks.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Proxy {
  url: string
  close(): Promise<void>
}
export interface MuteProxy extends Proxy {
  /** Whether notifications are swallowed now: from the beginning, unless it is told otherwise. */
  swallowing: boolean
  /** Notifications that were swallowed so far. */
  readonly swallowed: number
}

export interface CutProxy extends Proxy {
  /** Ends all connections, and refuses new ones until it is healed. */
  cut(): void
  heal(): void
}

export interface SilentProxy extends Proxy {
  /** From now on nothing passes on the connections that there are (or on those alone that listen), and nobody is told. New ones are as good
   *  as ever. */
  silence(which?: 'listening'): void
}

export interface DeafProxy extends Proxy {
  /** Whether LISTEN is refused now. */
  refusing: boolean
  /** How often LISTEN was refused so far. */
  readonly refused: number
  /** Ends all connections; new ones are as good as ever. */
  cut(): void
}

export interface EmptyProxy extends Proxy {
  /** Ends all connections; new ones are accepted and ended at once until it is filled. */
  empty(): void
  fill(): void
  /** Connections that were ended at once so far. */
  readonly turnedAway: number
}

export interface IntrudingProxy extends Proxy {
  /** Sends these bytes on each connection, between two messages of the server. */
  slipIn(bytes: Buffer): void
}

export interface TlsProxy extends Proxy {
  /** What a client has to trust. */
  certificate: string
}

const NOTIFICATION = 'A'.charCodeAt(0)
const COMPLETE = 'C'.charCodeAt(0)

/** The same Postgres at another address, from where no notification comes while it is `swallowing`. */
export const withoutNotifications = async (databaseUrl: string): Promise<MuteProxy> => {
  let swallowed = 0
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = joined(client, databaseUrl, sockets)
    client.pipe(upstream)
    onMessages(upstream, (messages) => {
      const kept = messages.filter((message) => message[0] !== NOTIFICATION || !proxy.swallowing)
      swallowed += messages.length - kept.length
      if (kept.length > 0) client.write(Buffer.concat(kept))
    })
  })
  const proxy = {
    url: elsewhere(databaseUrl, await listening(server)),
    swallowing: true,
    get swallowed() {
      return swallowed
    },
    close: () => closed(server, sockets),
  }
  return proxy
}

/** The same Postgres at another address. `done` is told, before a program hears of it, how many statements of one connection are done. */
export const thatCounts = async (databaseUrl: string, done: (count: number) => void): Promise<Proxy> => {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = joined(client, databaseUrl, sockets)
    let count = 0
    client.pipe(upstream)
    onMessages(upstream, (messages) => {
      for (const message of messages) if (message[0] === COMPLETE) done(++count)
      client.write(Buffer.concat(messages))
    })
  })
  return { url: elsewhere(databaseUrl, await listening(server)), close: () => closed(server, sockets) }
}

/** The same Postgres at another address, which says more than it was asked. */
export const thatSlipsIn = async (databaseUrl: string): Promise<IntrudingProxy> => {
  const sockets = new Set<Socket>()
  const clients = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = joined(client, databaseUrl, sockets)
    clients.add(client.on('close', () => clients.delete(client)))
    client.pipe(upstream)
    onMessages(upstream, (messages) => void client.write(Buffer.concat(messages)))
  })
  return {
    url: elsewhere(databaseUrl, await listening(server)),
    slipIn: (bytes) => clients.forEach((client) => client.write(bytes)),
    close: () => closed(server, sockets),
  }
}

// Whole messages of a Postgres server. Each has one byte for its type and four for its length, which counts itself.
const onMessages = (upstream: Socket, take: (messages: Buffer[]) => void) => {
  let rest: Buffer = Buffer.alloc(0)
  upstream.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk])
    const messages: Buffer[] = []
    while (rest.length >= 5 && rest.length > rest.readUInt32BE(1)) {
      const end = rest.readUInt32BE(1) + 1
      messages.push(rest.subarray(0, end))
      rest = rest.subarray(end)
    }
    if (messages.length > 0) take(messages)
  })
}

/** The same server at another port, whose network can be taken away. */
export const thatCanBeCut = async (serverUrl: string): Promise<CutProxy> => {
  const sockets = new Set<Socket>()
  let cut = false
  const server = createServer((client) => {
    if (cut) return client.destroy()
    client.pipe(joined(client, serverUrl, sockets)).pipe(client)
  })
  return {
    url: `http://127.0.0.1:${await listening(server)}`,
    cut() {
      cut = true
      for (const socket of sockets) socket.destroy()
    },
    heal: () => void (cut = false),
    close: () => closed(server, sockets),
  }
}

/** The same Postgres at another address, whose connections can die without a word: a host without power, a firewall that forgets. */
export const thatCanFallSilent = async (databaseUrl: string): Promise<SilentProxy> => {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  const alive = new Set<{ silent: boolean; listens: boolean }>()
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const own = { silent: false, listens: false }
    alive.add(own)
    const upstream = connect({ port: Number(target.port), host: target.hostname, allowHalfOpen: true })
    client.on('data', (chunk: Buffer) => void (own.listens ||= LISTEN.test(chunk.toString('latin1'))))
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      from.on('data', (chunk: Buffer) => void (own.silent || to.write(chunk)))
      from.on('end', () => void (own.silent || to.end()))
      from.on('error', () => {}).on('close', () => void (own.silent || to.destroy()))
    }
    client.on('close', () => alive.delete(own))
  })
  const silence = (which?: 'listening') => {
    for (const one of alive) one.silent ||= which === undefined || one.listens
  }
  return { url: elsewhere(databaseUrl, await listening(server)), silence, close: () => closed(server, sockets) }
}

const LISTEN = /listen "?parley/

/** https in front of an http server, as a reverse proxy in production: it tells by X-Forwarded-* how it was called. */
export const withTls = async (serverUrl: string): Promise<TlsProxy> => {
  const own = selfSigned()
  const target = new URL(serverUrl)
  const sockets = new Set<Socket>()
  const server = createHttpsServer(own, (incoming, outgoing) => {
    const headers = {
      ...incoming.headers,
      host: target.host,
      'x-forwarded-host': incoming.headers.host,
      'x-forwarded-proto': 'https',
      'x-forwarded-for': incoming.socket.remoteAddress,
    }
    const onward = httpRequest(
      { host: target.hostname, port: target.port, method: incoming.method, path: incoming.url, headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(outgoing)
      },
    )
    onward.on('error', () => outgoing.destroy())
    outgoing.on('close', () => onward.destroy())
    incoming.pipe(onward)
  })
  server.on('secureConnection', (socket) => sockets.add(socket))
  return { url: `https://localhost:${await listening(server)}`, certificate: own.cert, close: () => closed(server, sockets) }
}

/** The same Postgres at another address, which can refuse to LISTEN as a standby does: the connection stays. */
export const thatRefusesToListen = async (databaseUrl: string): Promise<DeafProxy> => {
  const sockets = new Set<Socket>()
  let refused = 0
  const server = createServer((client) => {
    const upstream = joined(client, databaseUrl, sockets)
    upstream.on('data', (chunk: Buffer) => void client.write(chunk))
    client.on('data', (chunk: Buffer) => {
      if (!proxy.refusing || !LISTEN.test(chunk.toString('latin1'))) return void upstream.write(chunk)
      refused++
      client.write(Buffer.concat([REFUSAL, READY]))
    })
  })
  const proxy = {
    url: elsewhere(databaseUrl, await listening(server)),
    refusing: false,
    get refused() {
      return refused
    },
    cut: () => sockets.forEach((socket) => socket.destroy()),
    close: () => closed(server, sockets),
  }
  return proxy
}

/** The same Postgres at another address, as a balancer or a container's port: while it has no server, connections are accepted and ended. */
export const thatCanBeEmpty = async (databaseUrl: string): Promise<EmptyProxy> => {
  const sockets = new Set<Socket>()
  let isEmpty = false
  let turnedAway = 0
  const server = createServer((client) => {
    if (isEmpty) {
      turnedAway++
      return void client
        .on('error', () => {})
        .resume()
        .end()
    }
    const upstream = joined(client, databaseUrl, sockets)
    upstream.on('data', (chunk: Buffer) => void client.write(chunk))
    client.on('data', (chunk: Buffer) => void upstream.write(chunk))
  })
  return {
    url: elsewhere(databaseUrl, await listening(server)),
    empty() {
      isEmpty = true
      for (const socket of sockets) socket.destroy()
    },
    fill: () => void (isEmpty = false),
    get turnedAway() {
      return turnedAway
    },
    close: () => closed(server, sockets),
  }
}

const FIELDS = 'SERROR\0C25006\0Mcannot execute LISTEN during recovery\0\0'
const message = (type: string, body: string) => {
  const bytes = Buffer.from(`${type}....${body}`, 'latin1')
  bytes.writeUInt32BE(bytes.length - 1, 1)
  return bytes
}
const REFUSAL = message('E', FIELDS)
const READY = message('Z', 'I')

// A connection to the server behind; when either ends, both do.
export const joined = (client: Socket, serverUrl: string, sockets: Set<Socket>): Socket => {
  const { port, hostname } = new URL(serverUrl)
  const upstream = connect(Number(port), hostname)
  const drop = () => (client.destroy(), upstream.destroy())
  for (const socket of [client, upstream]) {
    sockets.add(socket)
    socket.on('error', drop).on('close', drop)
  }
  return upstream
}

export const elsewhere = (databaseUrl: string, port: number): string => {
  const url = new URL(databaseUrl)
  url.port = String(port)
  return url.href
}

export const listening = (server: Server): Promise<number> =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)))

export const closed = (server: Server, sockets: Set<Socket>): Promise<void> =>
  new Promise((resolve) => {
    for (const socket of sockets) socket.destroy()
    server.close(() => resolve())
  })

/** A certificate for this name, and its key. */
export const selfSigned = (name = 'localhost'): { key: string; cert: string } => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-tls-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  try {
    const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`]
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '1',
        ...subject,
        '-keyout',
        key,
        '-out',
        cert,
      ],
      { stdio: 'ignore' },
    )
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
