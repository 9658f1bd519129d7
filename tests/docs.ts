// `bun run docs`: writes the generated parts of AGENTS.md, the toolsets' guides, README.md and .env.example.
import { Glob } from 'bun'
import { readFileSync, writeFileSync } from 'node:fs'
import { between, curlLines, environmentExample, eventTable, guideList, variableTable } from './support/docs.ts'
import type { Toolset } from '../src/operations/toolset.ts'
import { toolsets } from '../src/toolsets.ts'

const inGuides = (toolset: Toolset): Record<string, string> => {
  const tools = toolset.operations.filter(({ restOnly }) => !restOnly)
  const parts = { events: eventTable(toolset.eventKinds ?? []), curl: curlLines(tools) }
  return Object.fromEntries(
    (toolset.guides ?? []).map(({ name, text }) => {
      const marked = Object.entries(parts).filter(([part]) => text.includes(`<!-- ${part} -->`))
      return [fileOf(name), marked.reduce((page, [part, made]) => between(page, part, made), text)]
    }),
  )
}

// A guide lies in the folder of its wing.
const fileOf = (guide: string): string => [...new Glob(`src/*/guides/${guide}.md`).scanSync()].join(' and ')

/** Each document as it should be, by its path from the root. */
export const documents = (): Record<string, string> => ({
  ...Object.assign({}, ...toolsets.map(inGuides)),
  'AGENTS.md': between(readFileSync('AGENTS.md', 'utf8'), 'pages', guideList(toolsets.flatMap(({ guides }) => guides ?? []))),
  'README.md': between(readFileSync('README.md', 'utf8'), 'variables', variableTable()),
  '.env.example': environmentExample(),
})

if (import.meta.main) for (const [path, text] of Object.entries(documents())) writeFileSync(path, text)
