import type { Kind } from '../../src/core/event-types.ts'
import type { Team } from '../parts/team.tsx'

/** The session whose turns are shown. */
export interface Traced {
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
  /** Who said it, in a room. */
  team: Team | undefined
  at: string
  updatedAt: string
  events: number
  tools: string[]
  /** What is missing at its end, in words. */
  lacks: string | undefined
}

/** A stretch of the list of turns. */
export interface TurnList {
  items: TurnItem[]
  /** The turn that is shown beside it. */
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

/** A named part of what an event says: an argument of a call, what a program tells of itself. */
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
  kind: Kind
  /** Who says or does it, and in a room the team. */
  who: string | undefined
  /** What happened in the room, by the name of the event. */
  event: string | undefined
  team: Team | undefined
  model: string | undefined
  tool: string | undefined
  /** What kind of note it is, as the program calls it. */
  note: string | undefined
  /** The turn ended with it. */
  terminal: boolean
  /** It in one line. */
  line: string
  text: string
  fields: Field[]
  exitCode: number | undefined
  failed: boolean
  /** All that it says, in characters; `cut`: not all of it is here. */
  characters: number
  cut: boolean
  /** It was asked for: shown unfolded and marked. */
  open: boolean
  /** What came of a tool call. */
  response: TraceEvent | undefined
}

/** An event, or several in a row that are only of interest to those who look for them. */
export type TraceItem = { event: TraceEvent } | { notes: TraceEvent[] }

/** What can be asked for of a page, by `part`: the script puts it into the page that is open. */
export const PARTS = ['turn', 'earlier', 'later', 'events', 'event'] as const
export type Part = (typeof PARTS)[number]

export const turnHref = (session: string, turn: number) => `/sessions/${session}/turns/${turn}`
export const eventHref = (session: string, turn: number, sequence: number) => `${turnHref(session, turn)}?event=${sequence}#e${sequence}`
export const eventText = (session: string, sequence: number) => `/sessions/${session}/events/${sequence}.txt`

/** Longer events are read as plain text: a page of them would only be slow. */
export const LONGEST = 512 * 1024 // characters

export const TURNS_LISTED = 100
export const EVENTS_LISTED = 150
