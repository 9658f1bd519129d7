import type { EventType } from '../../src/core/events/event-types.ts'
import type { Team } from '../parts/team.tsx'

/** The session whose turns are shown. */
export interface TracedSession {
  id: string
  title: string
  /** The program that it was imported from; undefined for a room. */
  source: string | undefined
  startedAt: string
  updatedAt: string
  turns: number
  events: number
  models: string[]
  ended: boolean
}

/** A turn in the list. */
export interface TurnItem {
  ordinal: number
  /** The first line of the prompt, or in a room of what was said first. */
  line: string | undefined
  /** The author, in a room. */
  team: Team | undefined
  at: string
  updatedAt: string
  events: number
  tools: string[]
  /** What the turn lacks at its end, in words. */
  lacks: string | undefined
}

/** A stretch of the list of turns. */
export interface TurnList {
  items: TurnItem[]
  /** The turn that is shown beside the list. */
  current: number
  total: number
}

/** A turn with a stretch of its events. */
export interface ShownTurn {
  ordinal: number
  /** Undefined: there is no such turn. */
  item: TurnItem | undefined
  /** The events' rows, rendered. */
  html: string
}

/** A named part of an event: an argument of a call, or a value that a program noted. */
export interface Field {
  name: string
  value: string
  /** The value is written as JSON. */
  json: boolean
}

export interface TraceEvent {
  sequence: number
  turn: number
  at: string
  kind: EventType
  /** The author, and in a room the team. */
  who: string | undefined
  /** The icon of a room's system event, if its kind is known. */
  icon: string | undefined
  team: Team | undefined
  model: string | undefined
  tool: string | undefined
  /** The kind of a note, as the program calls it. */
  note: string | undefined
  /** The event ended the turn. */
  terminal: boolean
  /** The event in one line. */
  line: string
  text: string
  fields: Field[]
  exitCode: number | undefined
  failed: boolean
  /** The length of the whole event; `cut`: not all of it is here. */
  characters: number
  cut: boolean
  /** The address names the event: it is shown unfolded and marked. */
  open: boolean
  /** The response to a tool call. */
  response: TraceEvent | undefined
}

/** An event, or consecutive runtime notes. */
export type TraceItem = { event: TraceEvent } | { notes: TraceEvent[] }

/** The parts of a trace page that ?part= can name: the script puts them into the open page. */
export const TRACE_PARTS = ['turn', 'earlier', 'later', 'events', 'event'] as const
export type TracePart = (typeof TRACE_PARTS)[number]

export const turnHref = (session: string, turn: number) => `/sessions/${session}/turns/${turn}`
export const eventHref = (session: string, turn: number, sequence: number) => `${turnHref(session, turn)}?event=${sequence}#e${sequence}`
export const eventText = (session: string, sequence: number) => `/sessions/${session}/events/${sequence}.txt`

/** Longer events are offered as plain text: their pages would be slow. */
export const LONGEST_EVENT = 512 * 1024 // characters

export const TURNS_LISTED = 100
export const EVENTS_LISTED = 150
