// Finds meetings, action items and decisions by their words.
import { z } from 'zod'
import { CONTENT_TYPES, searchContent as search } from '../../stores/records/content-search.ts'
import { CALLERS, RECORD_READERS } from '../callers.ts'
import { onlySession } from '../reach.ts'
import { listLimit, op, text, toolRoute } from '../schemas.ts'
import { excerptAround } from './excerpt.ts'

/** Also what is misspelt, in titles and in descriptions of up to 2,000 characters. `score`, from 0 to 1, is how alike the query is to words of
 *  the title; what is in the description counts nine tenths of that. `id` is a meeting_id, item_id or decision_id. */
export const searchContent = op({
  name: 'search_content',
  summary:
    'Search titles and descriptions of meetings, action items and decisions; typos are forgiven. The excerpt of one that was withdrawn begins with "withdrawn: ".',
  route: toolRoute('search_content'),
  callers: CALLERS,
  keyRow: RECORD_READERS,
  effect: 'read',
  searchHint: 'find decisions and action items by words',
  example: { query: 'retry limit' },
  input: z.strictObject({
    query: text(1, 200),
    content_types: z.array(z.enum(CONTENT_TYPES)).min(1).max(CONTENT_TYPES.length).optional().describe('All unless given.'),
    limit: listLimit,
  }),
  output: z.object({
    results: z.array(
      z.object({
        id: z.uuid(),
        type: z.enum(CONTENT_TYPES),
        title: z.string(),
        excerpt: z.string(),
        score: z.number(),
        meeting_id: z.uuid(),
      }),
    ),
  }),
  refuses: ['forbidden'],
  async run(context, { query, content_types: types = CONTENT_TYPES, limit }) {
    const found = await search(context.services.database, { query, types, sessionId: onlySession(context), limit })
    return {
      results: found.map(({ id, type, title, description, session_id, withdrawn, score }) => ({
        id,
        type,
        title,
        excerpt: `${withdrawn ? 'withdrawn: ' : ''}${excerptAround(description === '' ? title : description, query)}`,
        score: Math.min(1, Math.round(score * 10_000) / 10_000),
        meeting_id: session_id,
      })),
    }
  },
})
