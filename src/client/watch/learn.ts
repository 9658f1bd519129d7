// `watch --learn`: takes down the session that an agent has just created or joined, from the answer that it got.
import { Stop, type Machine } from '../machine.ts'
import { readHookInput } from './hook-input.ts'
import { ancestorsOf } from './processes.ts'
import { forgetOld, keepEntry } from './sessions.ts'

/** Reads the answer from standard input, as a hook hands it over or as it is. An answer that is none is passed over by a hook, whose call
 *  may have been refused. */
export const learn = async (machine: Machine, link: string): Promise<void> => {
  const { conversation, folder, joined, thread } = await readHookInput(machine)
  if (!joined) {
    if (conversation !== undefined) return
    throw new Stop('Hand over the answer of create_session or join_session on standard input: … watch --learn < session.json')
  }
  const ancestors = ancestorsOf(machine.pid)
  const owner = conversation === undefined ? undefined : ancestors[0]
  forgetOld(machine.home, Date.now())
  keepEntry(machine.home, { link, ...joined, owner, ancestors, conversation, folder, thread })
}
