// Makes the empty databases of a run: the embedded ones in a folder that is there, the one on Postgres in a database that is there.
//   bun tests/make-empty.ts FOLDER URL
import { writeFileSync } from 'node:fs'
import { migrate } from '../db/migrate.ts'
import { openPostgres } from '../db/postgres.ts'
import { pathsIn } from './support/empty.ts'
import { makeEmptyDatabase } from './support/server.ts'

const [place = '', url = ''] = process.argv.slice(2)
const { folder, dump } = pathsIn(place)
writeFileSync(dump, await (await makeEmptyDatabase(folder)).bytes())
const database = await openPostgres(url)
await migrate(database)
await database.close()
