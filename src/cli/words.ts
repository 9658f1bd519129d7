// The words after a command, taken apart; a wrong one is told by the command's own error.
import { parseArgs, type ParseArgsConfig } from 'node:util'

export const takenApart = <const Options extends NonNullable<ParseArgsConfig['options']>>(
  args: string[],
  options: Options,
  failure: (message: string) => Error,
) => {
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    throw failure((error as Error).message)
  }
}
