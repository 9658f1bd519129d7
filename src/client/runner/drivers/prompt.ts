// What an agent is told, in words.
import type { Job } from './driver.ts'

/** The prompt as the agent gets it. */
export const promptOf = ({ prompt, contextFiles }: Pick<Job, 'prompt' | 'contextFiles'>): string =>
  contextFiles.length === 0 ? prompt : [prompt, '', 'Look at these files first:', ...contextFiles.map((file) => `- ${file}`)].join('\n')
