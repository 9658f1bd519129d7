// What a toolset offers to the people in front of MCP clients, beside its tools: resources to attach, prompts to start from, and the
// completion of their arguments.
import type { Call } from './call.ts'
import type { Services } from '../process/services.ts'

export interface Resource {
  uri: string
  name: string
  description: string
  mimeType: string
  annotations?: { lastModified: string }
}

/** Values for an argument of which `typed` is there already. */
export type Completion = (services: Services, call: Call, typed: string) => Promise<{ values: string[]; total?: number; hasMore?: boolean }>

export interface ResourceTemplate {
  name: string
  uriTemplate: string
  description: string
  mimeType: string
}

export interface Prompt {
  name: string
  description: string
  arguments: readonly PromptArgument[]
  /** The message that the person sends by it. */
  text(given: Record<string, string>): string
}

export interface PromptArgument {
  name: string
  description: string
  required?: boolean
  complete?: Completion
}

export interface Offers {
  templates: readonly ResourceTemplate[]
  /** For the variables of the templates, by name. */
  completions: Record<string, Completion>
  prompts: readonly Prompt[]
  /** The resources that this caller may read. */
  list(services: Services, call: Call): Promise<Resource[]>
  /** Undefined both for what does not exist and for what this caller may not read. */
  read(services: Services, call: Call, uri: string): Promise<{ mimeType: string; text: string } | undefined>
}
