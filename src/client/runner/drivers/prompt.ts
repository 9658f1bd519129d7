// What an agent is told, in words.
import type { Job } from './driver.ts'

/** The prompt as the agent gets it. */
export const promptOf = ({ prompt, contextFiles }: Pick<Job, 'prompt' | 'contextFiles'>): string =>
  contextFiles.length === 0 ? prompt : [prompt, '', 'Look at these files first:', ...contextFiles.map((file) => `- ${file}`)].join('\n')

/** What was said to the agent with the answer to a question for permission, where that answer has no place for it. */
export const aboutPermission = (tool: string, word: string): string => `About the permission for ${tool}: ${word}`
