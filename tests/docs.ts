// `bun run docs`: writes the generated parts of AGENTS.md, README.md and .env.example.
import { readFileSync, writeFileSync } from 'node:fs'
import { between, curlLines, environmentExample, eventTable, toolTable, variableTable } from '../src/cli/docs.ts'
import { rooms } from '../src/rooms/toolset.ts'

/** Each document as it should be, by its path from the root. */
export const documents = (): Record<string, string> => {
  const tools = rooms.operations.filter(({ restOnly }) => !restOnly)
  const parts = { events: eventTable(rooms.eventKinds ?? []), tools: toolTable(tools), curl: curlLines(tools) }
  const agents = Object.entries(parts).reduce((text, [name, part]) => between(text, name, part), readFileSync('AGENTS.md', 'utf8'))
  return {
    'AGENTS.md': agents,
    'README.md': between(readFileSync('README.md', 'utf8'), 'variables', variableTable()),
    '.env.example': environmentExample(),
  }
}

if (import.meta.main) for (const [path, text] of Object.entries(documents())) writeFileSync(path, text)
