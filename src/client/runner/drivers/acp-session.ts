// A conversation of an ACP agent, which calls it a session: begun, gone on with or forked, and put into its mode.
import { isObject, listOr, objectOr, textOr, wordOf, type Json } from '../../../transcripts/json.ts'
import type { AcpAgent } from './acp-agents.ts'
import type { Job } from './driver.ts'
import { METHOD_NOT_FOUND, RpcError, type Peer } from './json-rpc.ts'
import { announcedMode } from './modes.ts'

export interface Session {
  id: string
  model: string | undefined
  /** What it was put into; undefined: it knows no such mode. */
  mode: string | undefined
}

/** Opens the conversation that the task wants. `lastMessage`: the id of the newest message heard. */
export const openConversation = async (
  { plainMode }: AcpAgent,
  peer: Peer,
  job: Job,
  lastMessage: () => string | undefined,
): Promise<Session> => {
  const clientCapabilities = { fs: { readTextFile: false, writeTextFile: false }, terminal: false }
  const clientInfo = { name: 'parley', title: 'Parley', version: '1' }
  const { agentCapabilities } = await peer.call('initialize', { protocolVersion: 1, clientCapabilities, clientInfo })
  const opened = await open(peer, job, objectOr(agentCapabilities), lastMessage)
  const id = job.conversation ?? textOr(opened.sessionId) ?? ''
  const model = textOr(objectOr(opened.models).currentModelId) ?? textOr(optionOf(opened, 'model')?.currentValue)
  return { id, model, mode: await setMode(peer, id, opened, job.permissionMode, plainMode) }
}

const open = async (peer: Peer, job: Job, capabilities: Json, lastMessage: () => string | undefined): Promise<Json> => {
  const { conversation, fork, folder } = job
  const place = { cwd: folder, mcpServers: serversOf(job) }
  const { resume, fork: forks } = objectOr(capabilities.sessionCapabilities)
  const load = (sessionId: string) => {
    if (capabilities.loadSession !== true) throw new RpcError('it cannot load one', METHOD_NOT_FOUND)
    return peer.call('session/load', { sessionId, ...place })
  }
  if (conversation !== undefined) return resume ? peer.call('session/resume', { sessionId: conversation, ...place }) : load(conversation)
  if (fork === undefined) return peer.call('session/new', place)
  if (!forks || fork.at === undefined) throw new RpcError('it cannot fork one at a message', METHOD_NOT_FOUND)
  // A fork has all of its origin. Loading that tells where it ends: past the point, it is no fork of the point.
  await load(fork.conversation)
  if (lastMessage() !== fork.at) throw new RpcError('it has gone on since, and a fork would have all of it', METHOD_NOT_FOUND)
  return peer.call('session/fork', { sessionId: fork.conversation, ...place })
}

const PLAN = 'plan'

const setMode = async (
  peer: Peer,
  sessionId: string,
  opened: Json,
  permissionMode: string,
  plainMode: string | undefined,
): Promise<string | undefined> => {
  const { availableModes, currentModeId } = objectOr(opened.modes)
  const modes = listOr(availableModes).map((mode) => wordOf(objectOr(mode).id))
  const option = optionOf(opened, 'mode')
  const values = listOr(option?.options).map((each) => wordOf(objectOr(each).value))
  const current = [currentModeId, option?.currentValue]
  const mode = announcedMode(permissionMode, [...modes, ...values])
  // A conversation stays in plan once a task before was put into it.
  const wanted = mode ?? (current.includes(PLAN) ? [...modes, ...values].find((each) => each === plainMode) : undefined)
  try {
    if (wanted === undefined || current.includes(wanted)) return mode
    if (modes.includes(wanted)) await peer.call('session/set_mode', { sessionId, modeId: wanted })
    else await peer.call('session/set_config_option', { sessionId, configId: wordOf(option?.id), value: wanted })
    return mode
  } catch (error) {
    if (error instanceof RpcError && error.code !== undefined) return undefined // Gemini CLI knows modes that a folder may not have
    throw error
  }
}

const optionOf = ({ configOptions }: Json, category: string): Json | undefined =>
  listOr(configOptions)
    .filter(isObject)
    .find((option) => option.id === category || option.category === category)

// From the form that Claude Code made usual. Over standard input, so that the key stands in no argument vector, no file and no environment.
const serversOf = ({ hub, mcpServers }: Job): object[] => [
  ...Object.entries(mcpServers).flatMap(([name, server]) => (isObject(server) ? [serverOf(name, server)] : [])),
  { type: 'http', name: 'parley', url: hub.url, headers: pairs({ Authorization: `Bearer ${hub.key}` }) },
]

const serverOf = (name: string, { type, url, headers, command, args, env }: Json): object =>
  url === undefined
    ? { name, command, args: listOr(args), env: pairs(env) }
    : { type: textOr(type) ?? 'http', name, url, headers: pairs(headers) }

const pairs = (values: unknown) => Object.entries(objectOr(values)).map(([name, value]) => ({ name, value: wordOf(value) }))
