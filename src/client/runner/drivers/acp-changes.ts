// The changes of files that an ACP agent shows beside a call's input, which not every agent tells.
import { listOr, objectOr, textOr, wordOf, type Json } from '../../../transcripts/json.ts'

/** The changes of files in a call's content, without the lines at their beginning and end that stay: what is cut of a long one is not what
 *  changes. */
export const changesIn = (content: unknown): { changes?: Json[] } => {
  const changes = listOr(content).map(objectOr).filter(isDiff).map(changeOf)
  return changes.length > 0 ? { changes } : {}
}

const isDiff = ({ type }: Json): boolean => type === 'diff'

const changeOf = ({ path, oldText, newText }: Json): Json => {
  const [old, now] = [textOr(oldText)?.split('\n'), wordOf(newText).split('\n')]
  if (old === undefined) return { path, newText }
  const shorter = Math.min(old.length, now.length)
  let [above, below] = [0, 0]
  while (above < shorter && old[above] === now[above]) above++
  while (below < shorter - above && old.at(-1 - below) === now.at(-1 - below)) below++
  const between = (lines: string[]) => lines.slice(above, lines.length - below).join('\n')
  return { path, newText: between(now), oldText: between(old) }
}
