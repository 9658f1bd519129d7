import { expect, test } from 'bun:test'
import { baseOfLink, isLoopback, isLoopbackHost, urlAt } from '../../src/core/address.ts'

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

test.each([
  ['https://parley.example/mcp', 'https://parley.example'],
  ['https://parley.example/mcp/history/', 'https://parley.example'],
  ['https://parley.example/api/mcp', 'https://parley.example'],
  ['https://parley.example/api/mcp/history', 'https://parley.example'],
  ['https://parley.example/team/api/mcp/history?tools=open', 'https://parley.example/team'],
  ['https://parley.example/team', 'https://parley.example/team'],
  ['https://parley.example/', 'https://parley.example'],
])('the server of the link %s is at %s', (link, base) => {
  expect(baseOfLink(link)).toBe(base)
})

test('only names of the machine itself are loopback, with a port where a Host has one', () => {
  for (const name of ['localhost', '127.0.0.1', '127.9.8.7', '[::1]']) {
    expect([isLoopback(name), isLoopbackHost(name), isLoopbackHost(`${name}:80`)]).toEqual([true, true, true])
    expect(isLoopback(`${name}:80`)).toBe(false)
  }
  expect([isLoopback('::1'), isLoopbackHost('::1'), isLoopbackHost('::1:80')]).toEqual([true, false, false])
  for (const name of ['10.1.2.3', 'localhost.example', 'xlocalhost', '127.0.0.1.example', '127.0.0', '[::2]', ''])
    expect([isLoopback(name), isLoopbackHost(name)]).toEqual([false, false])
})
