// Empty embedded databases that `bun run test` makes once, for all of its processes, by today's migrations; they go with the run. A test that is
// run by itself makes its own.
import { join } from 'node:path'

export const pathsIn = (place: string) => ({ folder: join(place, 'folder'), dump: join(place, 'dump.tar') })

/** Names the folder that holds them. */
export const VARIABLE = 'PARLEY_TEST_EMPTY'

const given = process.env[VARIABLE]

/** A folder that all processes of a run share; undefined when there is no run around this process. */
export const folderOfRun = given

/** Where a server's empty data folder and the dump for one in memory lie; undefined when there is no run around this process. */
export const madeForAll = given === undefined ? undefined : pathsIn(given)
