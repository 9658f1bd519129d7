// Is the hub in order, as this machine sees it?
import { baseOfLink, isLoopback } from '../../core/address.ts'
import { callAgain } from '../copy.ts'
import { askHub, guardedWays, hubConfigOf, isLessGuarded, isUnguarded, Unreachable, type Hub, type HubAnswer } from '../hub.ts'
import { updateCommand } from '../hub-notes.ts'
import type { Machine } from '../machine.ts'
import { packageOf } from '../package.ts'
import { bad, good, note, type Finding } from './findings.ts'

const WITHIN_MS = 10_000
const CLOCKS_APART_MS = 5_000

export const checkHub = async (machine: Machine, hub: Hub): Promise<Finding[]> => {
  const began = performance.now()
  try {
    const answer = await askHub(baseOfLink(hub.link), '/api/config', { token: hub.token, withinMs: WITHIN_MS })
    const ms = Math.round(performance.now() - began)
    return [...reached(machine, hub, answer, ms), ...(answer.status === 200 ? await checkMcp(hub) : [])]
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error
    return [
      bad(
        `The hub is not reached (${error.message}). Is it running, and is ${hub.link} its address? If it has moved, connect to the new one.`,
      ),
    ]
  }
}

const reached = (machine: Machine, { link, token }: Hub, answer: HubAnswer, ms: number): Finding[] => {
  if (answer.status === 401) {
    const withToken = `PARLEY_TOKEN=… ${callAgain(machine, 'connect', 'CLIENT', '--hub', link)}`
    return [bad(`The hub ${token ? 'does not take the access token' : 'needs its access token'}. For each of its clients: ${withToken}`)]
  }
  const { version } = packageOf(machine.program)
  const config = hubConfigOf(answer)
  if (!config) return [bad(`Something answers at ${link} that is no Parley. Connect to the hub's own address.`)]
  const from = isLoopback(new URL(link).hostname) ? 'on this machine' : 'from this machine'
  return [
    good(`The hub is reached ${from} in ${ms} ms.`),
    ...(isUnguarded(link) ? [note(`${PLAIN} ${guardedWays(link)}.`)] : []),
    ...(baseOfLink(config.link) === baseOfLink(link) || isLessGuarded(config.link, link)
      ? []
      : [
          note(
            `The hub names ${config.link} as its link now. In case this one goes, connect to that one, and take this one out: ${callAgain(machine, 'disconnect', 'CLIENT', '--hub', link)}`,
          ),
        ]),
    clock(answer),
    ...(config.program === undefined || config.program.endsWith(`/parley-${version}.tgz`)
      ? []
      : [note(`The hub has another version of this program: ${updateCommand(link, config.program)} updates it.`)]),
  ]
}

const PLAIN =
  'It is plain http to another machine: whoever is on the way can read and change what is sent. Unless you trust that network, disconnect, and connect'

const clock = ({ headers }: HubAnswer): Finding => {
  const theirs = Date.parse(headers.get('date') ?? '')
  const apart = Math.abs(theirs - Date.now())
  if (!(apart > CLOCKS_APART_MS)) return good('Its clock and this one agree.')
  return note(
    `Its clock and this one are ${Math.round(apart / 1000)} s apart: messages still wake, but times look wrong. Set the one that is off.`,
  )
}

// As a client would ask.
const checkMcp = async (hub: Hub): Promise<Finding[]> => {
  const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'parley-doctor', version: '1' } }
  const begun = await callMcp(hub, 'initialize', hello)
  const listed = begun && (await callMcp(hub, 'tools/list', {}))
  const tools: unknown = listed?.tools
  if (!begun || !Array.isArray(tools))
    return [bad(`${hub.link} does not speak MCP. Does the address end in /mcp, and does a proxy pass it on?`)]
  return [good(`It speaks MCP ${String(begun.protocolVersion)} and has ${tools.length} tools.`)]
}

const callMcp = async ({ link, token }: Hub, method: string, params: object): Promise<any> => {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(token && { authorization: `Bearer ${token}` }),
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  try {
    const response = await fetch(link, { method: 'POST', headers, body, redirect: 'manual', signal: AbortSignal.timeout(WITHIN_MS) })
    return ((await response.json()) as { result?: unknown }).result
  } catch {
    return undefined
  }
}
