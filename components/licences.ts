// The licences of the libraries that a build has bundled, as one text: whoever is handed the bundle must be handed them.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What `bun build --metafile` says of one output: how many of its bytes came from which source. */
interface Output {
  inputs: Record<string, { bytesInOutput: number }>
}

/** Throws where a bundled library has no licence in its folder: then somebody must look. `root` has the folder node_modules. */
export const licencesIn = (metafile: string, root: string): string => {
  const { outputs } = JSON.parse(readFileSync(metafile, 'utf8')) as { outputs: Record<string, Output> }
  const sources = Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs).filter((path) => inputs[path]!.bytesInOutput > 0))
  const libraries = new Set(sources.map((path) => LIBRARY.exec(path)?.[0]).filter((folder) => folder !== undefined))
  return [...libraries]
    .toSorted()
    .map((folder) => licenceOf(join(root, folder)))
    .join(`\n${'-'.repeat(80)}\n\n`)
}

const LIBRARY = /^.*\bnode_modules\/(@[^/]+\/)?[^/]+/ // its folder, the innermost one

const licenceOf = (folder: string): string => {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, string>
  const file = readdirSync(folder).find((each) => /^(licen[cs]e|copying)/i.test(each))
  if (!file) throw new Error(`${name} is bundled, but has no licence in ${folder}.`)
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`
}
