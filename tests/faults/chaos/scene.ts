// What all parts of the load share: callers that do not give up, two persons who are signed in, rooms and keys.
import type postgres from 'postgres'
import { FULL } from '../../support/full.ts'
import { bearer } from '../../support/keys.ts'
import { good, persistent, type Ask } from './ask.ts'
import { OPERATOR_KEY, type Cluster } from './instances.ts'

/** The pause of everybody between two calls. */
export const PACE_MS = FULL ? 50 : 250

export interface Scene {
  urls: string[]
  ask: Ask
  /** Cookies of two persons. */
  people: [nora: string, omar: string]
  /** Parts begin nothing new once it is. */
  over: { now: boolean }
  openRoom(teams: number): Promise<{ session: string; teams: string[] }>
  makeKey(scope: 'full' | 'run', name: string): Promise<{ id: string; key: string }>
}

export interface Part {
  /** Resolves once it is over and all that it began has ended. */
  done: Promise<unknown>
  /** Holds what was acknowledged against what is there; returns its figures. */
  verdict(sql: postgres.Sql): Promise<string>
}

export const setScene = async ({ urls }: Cluster): Promise<Scene> => {
  const ask = persistent(urls)
  const people = (await Promise.all(['Nora', 'Omar'].map((name, n) => signIn(urls[n]!, name)))) as [string, string]
  return {
    urls,
    ask,
    people,
    over: { now: false },
    async openRoom(count) {
      const room = { title: 'Shipping the parser', description: '', creator_team_name: 'Team 0' }
      const { session_id: session, team_id } = good(await ask('/api/sessions', { body: room }))
      const teams: string[] = [team_id]
      for (let n = 1; n < count; n++)
        teams.push(good(await ask(`/api/sessions/${session}/join`, { body: { team_name: `Team ${n}` } })).team_id)
      return { session, teams }
    },
    // Who lost the page that shows a key makes another one.
    async makeKey(scope, name) {
      for (;;) {
        const id = crypto.randomUUID()
        const { body } = await ask('/settings/keys', { form: { id, name, scope }, headers: { cookie: people[0] } })
        const [key] = new RegExp(`ca_${scope}_[0-9a-f]{32}`).exec(body) ?? []
        if (key) return { id, key }
      }
    },
  }
}

const signIn = async (url: string, name: string): Promise<string> => {
  const form = new URLSearchParams({ key: OPERATOR_KEY, name })
  const response = await fetch(`${url}/sign-in`, { method: 'POST', body: form, headers: { origin: url }, redirect: 'manual' })
  return response.headers.get('set-cookie')!.split(';')[0]!
}

/** Calls of control or of a runner with a key, as they are answered. */
export const withKey = (ask: Ask, key: string) => (path: string, body: object) => ask(`/api/${path}`, { body, headers: bearer(key) })
