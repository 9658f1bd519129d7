import { typed } from './ask.ts'
import { CLIENTS, isClient, type ClientName } from './clients.ts'
import { BadCall, type Machine } from './machine.ts'
import { programIn } from './runner/agents.ts'

/** The client that `connect` is for where none was named: the one that is installed here, of several the one that the person types. Throws
 *  BadCall where none is here, or nobody can be asked; `asks`: whether that may be. */
export const chooseClient = async (machine: Machine, asks: boolean): Promise<ClientName> => {
  const all = Object.keys(CLIENTS).filter(isClient)
  if (process.platform === 'win32') return nameOne(all) // which has them under other names
  const found = all.filter((name) => programIn(name, machine.env))
  const [only] = found
  if (only === undefined) return nameOne(all, 'None of them is in PATH here. ')
  if (found.length === 1) return only
  const answer = asks ? await typed(machine, `Connect which one? ${found.join(', ')}: `) : undefined
  return isClient(answer) ? answer : nameOne(found)
}

const nameOne = (names: ClientName[], why = ''): never => {
  throw new BadCall(`${why}Name the client: ${names.map((name) => `connect ${name}`).join(', ')}.`)
}
