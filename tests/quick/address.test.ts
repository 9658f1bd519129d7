import { expect, test } from 'bun:test'
import { urlAt } from '../../src/core/address.ts'

test.each([
  ['127.0.0.1', 'http://127.0.0.1:7423'],
  ['localhost', 'http://localhost:7423'],
  ['10.1.2.3', 'http://10.1.2.3:7423'],
  ['::1', 'http://[::1]:7423'],
  ['[fd00::1]', 'http://[fd00::1]:7423'],
  ['0.0.0.0', 'http://127.0.0.1:7423'],
  ['0', 'http://127.0.0.1:7423'],
  ['*', 'http://127.0.0.1:7423'],
  ['::', 'http://[::1]:7423'],
  ['[::]', 'http://[::1]:7423'],
  ['::0', 'http://[::1]:7423'],
  ['::ffff:0.0.0.0', 'http://127.0.0.1:7423'],
])('what listens on %s is reached on its machine at %s', (host, url) => {
  expect(urlAt(host, 7423)).toBe(url)
})
