// Questions to the person at the terminal.
import { createInterface } from 'node:readline/promises'
import { Stop, type Machine } from './machine.ts'

/** Whether the person says yes. Throws Stop where nobody can be asked. */
export const confirmed = async (machine: Machine, question: string): Promise<boolean> => {
  if (!machine.input.isTTY) throw new Stop(`${question} Nobody can be asked here: add --yes to say yes.`)
  return /^y(es)?$/i.test((await answerTo(machine, `${question} [y/N] `)).trim())
}

/** What the person types; undefined where nobody can be asked. */
export const typed = async (machine: Machine, question: string): Promise<string | undefined> =>
  machine.input.isTTY ? (await answerTo(machine, question)).trim() || undefined : undefined

const answerTo = async ({ input, out }: Machine, question: string): Promise<string> => {
  out.write(question)
  const reader = createInterface({ input })
  const answer = await new Promise<string>((resolve) => {
    reader.once('line', resolve)
    reader.once('close', () => resolve(''))
  })
  reader.close()
  return answer
}
