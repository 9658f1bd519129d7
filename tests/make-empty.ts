// Makes the empty databases of a run, in a folder that is there.
//   bun tests/make-empty.ts FOLDER
import { writeFileSync } from 'node:fs'
import { pathsIn } from './support/empty.ts'
import { dumpOfEmpty } from './support/pglite.ts'
import { makeEmptyDatabase } from './support/server.ts'

const { folder, dump } = pathsIn(process.argv[2]!)
await makeEmptyDatabase(folder)
writeFileSync(dump, await (await dumpOfEmpty()).bytes())
