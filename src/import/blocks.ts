// The blocks of which Anthropic, OpenAI and Google build a message's content, as text.
import { isObject, listOr, textOr, type Json } from './draft.ts'

/** All text of a content: a string, or blocks of which those without text are named in brackets. */
export const textOfBlocks = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : listOr(isObject(content) ? [content] : content)
        .map((block) => (typeof block === 'string' ? block : isObject(block) ? textOfBlock(block) : ''))
        .filter((text) => text !== '')
        .join('\n')

const textOfBlock = (block: Json): string => {
  if (typeof block.text === 'string') return block.text
  const media = mediaOf(block)
  if (media !== undefined) return media
  if (isObject(block.functionResponse)) return textOfResponse(block.functionResponse.response)
  if (block.type === 'tool_reference') return `[tool ${String(block.tool_name)}]`
  if (typeof block.content === 'string' || Array.isArray(block.content)) return textOfBlocks(block.content)
  return typeof block.encrypted_content === 'string' ? '' : JSON.stringify(block)
}

// A picture is named with its size: its bytes are nothing to read or to find.
const mediaOf = (block: Json): string | undefined => {
  const source = isObject(block.source) ? block.source : isObject(block.inlineData) ? block.inlineData : undefined
  const kind = textOr(source?.media_type) ?? textOr(source?.mimeType)
  const data = textOr(source?.data)
  if (data !== undefined) return `[${kind ?? String(block.type)}, ${Math.round((data.length * 3) / 4).toLocaleString('en')} bytes]`
  if (!/image|audio|file/.test(String(block.type))) return undefined
  const url = textOr(block.image_url) ?? textOr(source?.url) ?? ''
  return block.image_url === null ? '' : `[${String(block.type)}${url && !url.startsWith('data:') ? ` ${url}` : ''}]`
}

/** What a tool of Google's answered. */
export const textOfResponse = (response: unknown): string => {
  if (typeof response === 'string') return response
  if (!isObject(response)) return response === undefined ? '' : JSON.stringify(response)
  return textOr(response.output) ?? textOr(response.error) ?? textOr(response.content) ?? JSON.stringify(response)
}

/** A tool's arguments, which some programs write as JSON in a string. */
export const argumentsOf = (given: unknown): unknown => {
  if (typeof given !== 'string' || !/^\s*[{[]/.test(given)) return given ?? {}
  try {
    return JSON.parse(given)
  } catch {
    return given
  }
}

const EXIT = /(?:^|\n)(?:error: )?(?:exit code:? |process exited with code )(-?\d+)/i

/** The exit code that a tool's output begins with, as Claude Code and Codex write it. */
export const exitCodeIn = (text: string): number | undefined => {
  const found = EXIT.exec(text.slice(0, 400))?.[1]
  return found === undefined ? undefined : Number(found)
}

/** A tool response's content. */
export const responded = (text: string, exitCode: number | undefined, failed = false) => ({
  text,
  ...(exitCode !== undefined && { exit_code: exitCode }),
  ...(failed && { is_error: true }),
})
