// The board: planned, claimed, worked off.
import fc from 'fast-check'
import { pick, refuses, upTo, type Command, type Known, type Verdict } from '../command.ts'
import { presentTeams, tell, type Item, type Room } from '../state.ts'
import { blockersOf, counts, isCircle, isReady, itemAnswer, itemOf, overlap, readyItems } from './board-rules.ts'
import { noteWork, PRIORITIES } from './roles.ts'
import { updateWork } from './update-work.ts'

const TITLES = ['Write the lexer', 'Test the lexer', 'Write the guide']
export const PATHS = ['src/lexer', 'src/lexer/a.ts', 'src/**', 'docs/*.md']

const drawn = fc.record({ title: upTo(2), priority: upTo(4), depends: upTo(9), paths: upTo(7), owner: upTo(9) })

/** The owner that a number picks: a handle, a name, or nobody's. */
export const ownerWord = ({ teams }: Room, owner: number): string =>
  owner === 0 ? 'Nobody' : owner < 3 ? pick(teams, owner).handle : pick(teams, owner).name

const planWork: Command = {
  op: 'plan_work',
  draws: { items: fc.array(drawn, { minLength: 1, maxLength: 2 }), claim: upTo(2) },
  weight: 5,
  input: (room, { items, claim }) => ({
    items: items.map(({ title, priority, depends, paths, owner }: any) => ({
      title: pick(TITLES, title),
      ...(priority < 3 && { priority: PRIORITIES[priority] }),
      ...(depends < 5 && {
        depends_on: [depends === 0 ? '#1' : depends === 1 ? crypto.randomUUID() : (room.items[depends - 2]?.id ?? '#1')],
      }),
      ...(paths < 4 && { paths: [PATHS[paths]] }),
      ...(owner < 6 && { owner: ownerWord(room, owner) }),
    })),
    ...(claim === 0 && { claim: true }),
  }),
  judge(known) {
    const { room, self, speaker, input } = known
    if (room.closed) return refuses('session_closed')
    if (input.claim && !self) return refuses('forbidden')
    const given = input.items as any[]
    const owners = given.map(({ owner }) => (owner === undefined ? undefined : teamCalled(room, owner)))
    if (given.some(({ owner }, i) => owner !== undefined && !owners[i])) return refuses('invalid_request')
    const places = given.map((_, i) => `#${i + 1}`)
    const named = given.map(({ depends_on = [] }) => depends_on as string[])
    if (named.flat().some((word) => !places.includes(word) && !itemOf(room, word))) return refuses('invalid_request')
    if (isCircle(new Map(places.map((place, i) => [place, named[i]!])), places)) return refuses('invalid_request')
    if (input.claim && named.flat().some((word) => places.includes(word) || blockersOf(room, { dependsOn: [word] }).length > 0))
      return refuses('conflict')
    if (input.claim && overlap(room, self!.handle, given.flatMap(({ paths = [] }) => paths))) return refuses('conflict') // prettier-ignore
    return {
      answers: { items: given.map(({ title }) => ({ title, status: input.claim ? 'claimed' : 'open' })) },
      after({ items }) {
        const ids = items.map(({ item_id }: any) => item_id)
        const claimed = input.claim && { status: 'claimed' as const, holder: self!.handle, holderName: self!.name }
        const added = given.map((one, i): Item => ({
          id: ids[i],
          kind: 'work',
          title: one.title,
          description: '',
          status: 'open',
          priority: one.priority ?? 'medium',
          dependsOn: named[i]!.map((word) => (places.includes(word) ? ids[places.indexOf(word)] : word)),
          paths: one.paths ?? [],
          owner: owners[i]?.name ?? null,
          plannedBy: self?.handle ?? null,
          planner: speaker.name,
          holder: null,
          holderName: null,
          withdrawn: false,
          note: null,
          result: null,
          ...claimed,
        }))
        room.items.push(...added)
        for (const { planned_by } of items) room.persons[planned_by.name] = planned_by.person_id
        const told = added.map(({ id: item_id, title }) => ({ item_id, title }))
        const to = [...new Set(owners.flatMap((owner) => owner?.handle ?? []))].filter((handle) => handle !== self?.handle)
        tell(room, 'work_planned', speaker.whose, { by: speaker.name, items: told, ...(to.length > 0 && { to }) })
        if (input.claim) for (const item of added) noteWork(room, 'work_claimed', item, speaker)
      },
    }
  },
}

const sameName = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

/** The team of this handle or name: of several by one name the one that is present. */
export const teamCalled = ({ teams }: Room, word: string) => {
  const named = teams.filter(({ name, handle }) => handle === word || sameName(name, word))
  return named.find(({ left }) => !left) ?? named[0]
}

const listWork: Command = {
  op: 'list_work',
  draws: { which: upTo(9), status: upTo(9), mine: upTo(4) },
  weight: 2,
  input: ({ items }, { which, status, mine }) => ({
    ...(which < 3 && { item_id: items[which]?.id ?? crypto.randomUUID() }),
    ...(status < 4 && { status: pick(['open', 'claimed', 'done', 'dropped'], status) }),
    ...(mine === 0 && { mine: true }),
    limit: 50,
  }),
  judge({ room, speaker, input: { item_id, status, mine } }) {
    if (item_id && !itemOf(room, item_id)) return refuses('not_found')
    const isMine = ({ owner, holder }: Item) => (owner !== null && !speaker.whose.startsWith('person:') && sameName(owner, speaker.name)) || holder === speaker.whose // prettier-ignore
    const items = room.items.filter((item) =>
      item_id ? item.id === item_id : (!status || item.status === status) && (!mine || isMine(item)),
    )
    return { answers: { items: items.map((item) => itemAnswer(room, item)), counts: counts(room), has_more: false } }
  },
}

const claimWork: Command = {
  op: 'claim_work',
  draws: { which: upTo(6), overlaps: upTo(3) },
  weight: 7,
  input: ({ items }, { which, overlaps }) => ({
    ...(which < 5 && { item_id: (which < 4 && items[which]?.id) || crypto.randomUUID() }),
    ...(overlaps === 0 && { allow_overlap: true }),
  }),
  judge(known) {
    const { room, self, input } = known
    if (room.closed) return refuses('session_closed')
    if (!self) return refuses('forbidden')
    const item = input.item_id ? itemOf(room, input.item_id) : best(known)
    if (!item) return input.item_id ? refuses('not_found') : { answers: { item: null, counts: counts(room) } }
    if (item.status === 'claimed' && item.holder === self.handle) return { answers: { item: itemAnswer(room, item), counts: counts(room) } }
    if (item.status === 'claimed') return refuses('conflict', { claimed_by: { team_id: item.holder } })
    if (item.status !== 'open') return refuses('conflict', { status: item.status })
    if (!isReady(room, item)) return refuses('conflict', { blocked_by: blockersOf(room, item).map(({ id }) => ({ item_id: id })) })
    if (overlap(room, self.handle, item.paths) && !input.allow_overlap) return refuses('conflict')
    return claimed(known, item)
  },
}

const claimed = ({ room, self, speaker }: Known, item: Item): Verdict => ({
  answers: { item: { item_id: item.id, status: 'claimed', claimed_by: { team_id: self!.handle, team_name: self!.name } } },
  after() {
    Object.assign(item, { status: 'claimed', holder: self!.handle, holderName: self!.name })
    noteWork(room, 'work_claimed', item, speaker)
  },
})

// What the team owns first, then what no team owns that is present.
const best = ({ room, self, input }: Known): Item | undefined => {
  const free = readyItems(room).filter(({ paths }) => input.allow_overlap || !overlap(room, self!.handle, paths))
  const isOf = (item: Item, name: string) => item.owner !== null && sameName(item.owner, name)
  const own = free.find((item) => isOf(item, self!.name))
  return own ?? free.find((item) => !presentTeams(room).some(({ name }) => isOf(item, name)))
}

export const board = [planWork, listWork, claimWork, updateWork]
