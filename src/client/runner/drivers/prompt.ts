// What an agent is told and what people are asked, in words.
import { textOr, type Json } from '../../../transcripts/json.ts'
import type { Job } from './driver.ts'

/** The prompt as the agent gets it. */
export const promptOf = ({ prompt, contextFiles }: Pick<Job, 'prompt' | 'contextFiles'>): string =>
  contextFiles.length === 0 ? prompt : [prompt, '', 'Look at these files first:', ...contextFiles.map((file) => `- ${file}`)].join('\n')

const LONGEST = 200 // characters
const TELLING = ['command', 'cmd', 'file_path', 'filePath', 'path', 'url', 'query', 'pattern', 'description']

/** A tool call that needs leave, on one line: `Bash: npm test`. */
export const callLine = (tool: string, input: Json): string => {
  const command = Array.isArray(input.command) ? input.command.join(' ') : undefined
  const about = command ?? TELLING.map((name) => textOr(input[name])).find((text) => text !== undefined)
  const line = `${tool}${about === undefined ? '' : `: ${about.replace(/\s+/g, ' ').trim()}`}`
  return line.length <= LONGEST ? line : `${line.slice(0, LONGEST - 1).toWellFormed()}…`
}
