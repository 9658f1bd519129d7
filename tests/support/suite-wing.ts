// The wing that the official MCP conformance suite asks for: its scenarios call tools, resources and prompts by these names. They stand on the
// real door; what the suite expects beyond what an operation can answer is listed in tests/suites/mcp-conformance.test.ts.
import { z } from 'zod'
import { refuse } from '../../src/core/errors.ts'
import { anyone } from '../../src/operations/callers.ts'
import type { Context } from '../../src/operations/context.ts'
import type { Offers, Prompt } from '../../src/operations/offers.ts'
import { operationsOf } from '../../src/operations/operation.ts'
import type { Toolset } from '../../src/operations/toolset.ts'

const { op } = operationsOf<Context>('suite')

interface Part {
  held?: boolean
  clientCapabilities?: readonly string[]
}

const tool = (
  name: string,
  summary: string,
  { held = false, ...more }: Part = {},
  run: () => { text: string } | Promise<{ text: string }> = () => ({ text: summary }),
) =>
  op({
    name,
    summary,
    route: ['POST', `/suite/${name}`],
    callers: [anyone],
    effect: 'read',
    held,
    ...more,
    input: z.strictObject({}),
    output: z.object({ text: z.string() }),
    refuses: ['conflict'],
    run: async () => run(),
  })

/** How often the door tells that a call still waits. The suite wants to hear of it three times, and within ten seconds. */
export const BEAT_MS = 50

const afterThreeBeats = async () => {
  await Bun.sleep(40 * BEAT_MS) // a timer that came late does not catch up
  return { text: 'It has waited.' }
}

const operations = [
  tool('test_simple_text', 'Answers with a text.'),
  tool('test_error_handling', 'Always refuses.', {}, () => refuse('conflict', 'This tool always refuses.')),
  tool('test_tool_with_progress', 'Is held, and answers late.', { held: true }, afterThreeBeats),
  tool('test_logging_tool', 'Answers as a stream, in which a server that logs to its clients would log.', { held: true }),
  tool('test_streaming_elicitation', 'Answers as a stream, in which a server of an older revision would ask its client.', { held: true }),
  tool('test_missing_capability', 'Needs a client whose model can be asked.', { clientCapabilities: ['sampling'] }),
]

const prompt = (name: string, given: readonly string[], text: Prompt['text']): Prompt => ({
  name,
  description: 'A prompt for the conformance suite.',
  arguments: given.map((argument) => ({
    name: argument,
    description: 'A word.',
    required: true,
    complete: async (_, __, typed) => ({ values: ['paris', 'park', 'party'].filter((word) => word.startsWith(typed)) }),
  })),
  text,
})

const TEMPLATE = /^test:\/\/template\/(\w+)\/data$/

const offers: Offers = {
  templates: [{ name: 'data', uriTemplate: 'test://template/{id}/data', description: 'The data of an id.', mimeType: 'application/json' }],
  completions: {},
  prompts: [
    prompt('test_simple_prompt', [], () => 'This is a simple prompt for testing.'),
    prompt('test_prompt_with_arguments', ['arg1', 'arg2'], ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`),
  ],
  list: async () => [{ uri: 'test://static-text', name: 'A text', description: 'Always the same.', mimeType: 'text/plain' }],
  async read(_, __, uri) {
    if (uri === 'test://static-text') return { mimeType: 'text/plain', text: 'This is the content of the static text resource.' }
    const id = TEMPLATE.exec(uri)?.[1]
    return id === undefined ? undefined : { mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true }) }
  },
}

export const suiteWing: Toolset = { name: 'suite', instructions: 'For the conformance suite.', operations, offers }
