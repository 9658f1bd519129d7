import { afterEach, expect, setSystemTime, test } from 'bun:test'
import { silent } from '../../src/core/runtime/log.ts'
import { createOutages } from '../../src/notices/outages.ts'

afterEach(() => void setSystemTime())

test('a place fails since its first failure, until it works or nothing was tried there for a day', () => {
  const { note, failing } = createOutages(silent)
  const at = (hour: number) => new Date(Date.UTC(2026, 2, 1, hour))
  const failsAt = (hour: number, place: string) => {
    setSystemTime(at(hour))
    note(place, { came: 'again', why: 'answered 503' })
  }
  failsAt(0, 'NOTIFY_URL')
  failsAt(1, 'push.example')
  failsAt(2, 'NOTIFY_URL')
  expect(failing()).toEqual([
    { name: 'NOTIFY_URL', since: at(0) },
    { name: 'push.example', since: at(1) },
  ])
  note('push.example', { came: 'gone', why: 'answered 410' })
  expect(failing()).toHaveLength(2)
  note('NOTIFY_URL', { came: 'ok', why: 'answered 200' })
  expect(failing()).toEqual([{ name: 'push.example', since: at(1) }])
  setSystemTime(at(25))
  expect(failing()).toEqual([])
  failsAt(26, 'push.example')
  expect(failing()).toEqual([{ name: 'push.example', since: at(26) }])
})
