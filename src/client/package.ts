// The package that this program came in: its version, and the hub that served it.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface Package {
  version: string
  /** The MCP link of the hub that it was fetched from. A copy under ~/.parley has none. */
  link: string | undefined
}

/** In a checkout there is no package beside the program. */
export const packageOf = (program: string): Package => {
  try {
    const { version, parley } = JSON.parse(readFileSync(join(dirname(program), 'package.json'), 'utf8')) as {
      version: string
      parley?: { link?: string }
    }
    return { version, link: parley?.link }
  } catch {
    return { version: 'checkout', link: undefined }
  }
}
