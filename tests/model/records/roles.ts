// What somebody may do with records and the board of a session.
import type { Known } from '../command.ts'
import { write, type Room } from '../state.ts'

export type Role = 'convener' | 'team' | 'person' | 'stranger'

/** A team of another session is a stranger: it reads, where pages are open. */
export const roleOf = ({ room, self, person }: Known): Role => {
  if (person) return 'person'
  if (!self) return 'stranger'
  return self.handle === room.convener ? 'convener' : 'team'
}

export const PRIORITIES = ['high', 'medium', 'low'] as const

/** Writes what wakes nobody. */
export const noteWork = (
  room: Room,
  event: string,
  { id, title }: { id: string; title: string },
  { whose, name }: Known['speaker'],
): number => write(room, { type: 'runtime', content: { event, item_id: id, title, by: name } }, whose)
