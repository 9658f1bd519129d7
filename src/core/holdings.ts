// How much each holder has of something limited, such as the waits of an address.

/** Who holds how much of something, and the most that one may hold. Nobody is remembered who holds nothing. */
export class Holdings {
  #held = new Map<string, number>()

  /** `most`: 0 lets everybody hold any number, and counts nothing. */
  constructor(readonly most: number) {}

  /** Takes one more for this holder, unless it has the most that it may. `holder` is only asked where there is a limit. The returned function
   *  gives it back, once. */
  take(holder: () => string): (() => void) | undefined {
    if (this.most === 0) return nothing
    const name = holder()
    const held = this.#held.get(name) ?? 0
    if (held >= this.most) return undefined
    this.#held.set(name, held + 1)
    let taken = true
    return () => {
      if (taken) this.#giveBack(name)
      taken = false
    }
  }

  #giveBack(name: string) {
    const left = this.#held.get(name)! - 1
    if (left > 0) this.#held.set(name, left)
    else this.#held.delete(name)
  }

  /** How many hold something. */
  get holders(): number {
    return this.#held.size
  }
}

const nothing = () => {}
