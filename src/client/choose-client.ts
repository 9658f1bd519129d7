import { typed } from './ask.ts'
import { CLIENTS, isClient, type ClientName } from './clients.ts'
import { BadCall, type Machine } from './machine.ts'
import { programIn } from './runner/agents.ts'

/** The client that `connect` is for where none was named: the one that is installed here, of several the one that the person types. Throws
 *  BadCall where none is here, or nobody can be asked. */
export const chooseClient = async (machine: Machine): Promise<ClientName> => {
  const found = Object.keys(CLIENTS)
    .filter(isClient)
    .filter((name) => programIn(name, machine.env))
  const [only] = found
  if (only === undefined)
    throw new BadCall(
      `None of ${Object.keys(CLIENTS).join(', ')} is in PATH here. Name the one that you use: connect claude, for instance.`,
    )
  if (found.length === 1) return only
  const answer = await typed(machine, `Connect which one? ${found.join(', ')}: `)
  if (isClient(answer)) return answer
  throw new BadCall(`Several clients are here. Name one: ${found.map((name) => `connect ${name}`).join(', ')}.`)
}
