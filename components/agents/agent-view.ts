import type { Team } from '../parts/team.tsx'

/** How it is with an agent, for its dot. Ready: it waits for a prompt (on the wire: idle). */
export type AgentState = 'ready' | 'running' | 'asks' | 'failed'

/** The agent of a session, the same for every viewer. */
export interface AgentView {
  name: string
  /** The version of its program on the runner that has it. */
  version: string | undefined
  mode: string
  /** The mode lets the agent do anything without asking. */
  unlimited: boolean
  state: AgentState
  /** `owner/name · branch · 3 files changed` */
  place: string[]
  /** The runner that has its worktree. */
  runner: { name: string; online: boolean } | undefined
  /** Its worktree was not made, or is gone: no runner can take its prompts. */
  placeless: boolean
  /** What its tree has used, and may: `used 1.2M tokens, $0.84 of $5.00`. */
  used: string | undefined
  /** The card of what it asks permission for first. */
  asking: string | undefined
  /** Somebody stopped it, or put its session away. */
  held: boolean
  /** Why nothing goes on, in a sentence. */
  stopped: string | undefined
}

/** What became of a prompt, for the line below it. */
export interface TaskItem {
  /** The sequence of the prompt, which names the line. */
  sequence: number
  session: string
  turn: number
  status: 'queued' | 'running' | 'completed' | 'failed' | 'interrupted'
  /** In a word or two, and what follows. */
  said: string
  details: string[]
  /** Its runner works on it, and can be told to stop. */
  interruptible: boolean
  /** Why it failed, in a sentence. */
  problem: string | undefined
  /** What the agent asked its user; the next prompt is the answer. */
  asks: string | undefined
  /** There is a trace to open. */
  traced: boolean
}

/** Who gave a prompt: a person, a key by its name, or the agent of another session. */
export interface PromptedBy {
  kind: 'person' | 'key' | 'agent'
  name: string
  session: string | undefined
}

/** What an agent asks permission for. */
export interface PermissionView {
  session: string
  request: string
  /** The id of its card's element. */
  anchor: string
  tool: string
  /** What it wants, with the line breaks that it has. */
  text: string
  /** The whole call, where the text is not all of it. */
  call: { text: string; cut: boolean; open: boolean } | undefined
  /** It asks for more permissions from now on: up to this mode. */
  raise: string | undefined
  /** Seconds left for an answer; undefined when there is nothing to answer any more. */
  left: number | undefined
  /** By a person. */
  decided: { by: string; allow: boolean; message: string | undefined } | undefined
  /** Its task has ended, so that there is nothing left to allow. */
  over: boolean
}

/** The card of a request as a row of the feed. */
export interface PermissionItem {
  kind: 'permission'
  sequence: number
  at: string
  team: Team | undefined
  card: PermissionView
}

/** A session in a tree of sessions, with those below it. */
export interface FamilyMember {
  id: string
  title: string
  forked: boolean
  concluded: boolean
  state: AgentState | undefined
  mode: string | undefined
  promptedBy: string | undefined
  below: FamilyMember[]
}
