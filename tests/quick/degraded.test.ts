import { expect, test } from 'bun:test'
import { degradedModesJob } from '../../src/process/degraded.ts'

const watched = () => {
  const logged: string[] = []
  const state = {
    log: (level: string, message: string, figures = {}) => void logged.push(`${level} ${message} ${JSON.stringify(figures)}`),
    config: { MAX_WAITS: 100, MAX_STREAMS: 10 },
    waits: { held: 0 },
    peeks: { held: 0 },
    streams: { open: 0 },
    indexer: { lagSeconds: 0 },
    database: { freeMib: 5_000, freeBytes: (): number => state.database.freeMib * 1024 ** 2 },
  }
  const { run } = degradedModesJob(state)
  /** What the next run logs. */
  const news = () => {
    logged.length = 0
    run()
    return [...logged]
  }
  return { state, news }
}

test('an index that is far behind is logged when that begins, and when it ends', () => {
  const { state, news } = watched()
  state.indexer.lagSeconds = 30
  expect(news()).toEqual([])
  state.indexer.lagSeconds = 31.4
  expect(news()).toEqual([
    'warn The search index is more than 30 s behind: searches do not find what was written since. {"lag_seconds":31}',
  ])
  expect(news()).toEqual([])
  state.indexer.lagSeconds = 0
  expect(news()).toEqual(['info The search index has caught up. {"lag_seconds":0}'])
  expect(news()).toEqual([])
})

test('waits and streams near their limit are logged at 90 %, and again below 80 %', () => {
  const { state, news } = watched()
  state.waits.held = 89
  expect(news()).toEqual([])
  state.waits.held = 90
  state.streams.open = 10
  expect(news()).toEqual([
    'warn The open waits have reached 90 % of MAX_WAITS. At the limit, more are refused. {"waits":90,"limit":100}',
    'warn The open streams have reached 90 % of MAX_STREAMS. At the limit, more are refused. {"streams":10,"limit":10}',
  ])
  state.waits.held = 80
  expect(news()).toEqual([])
  state.waits.held = 79
  expect(news()).toEqual(['info The open waits are below 80 % of MAX_WAITS again. {"waits":79,"limit":100}'])
})

test('little space on the disk is logged, and again when there is a quarter more', () => {
  const { state, news } = watched()
  state.database.freeMib = 1_025
  expect(news()).toEqual([])
  state.database.freeMib = 900
  expect(news()).toEqual(['warn The disk of DATA_DIR has 1024 MiB left or less. Below 64 MiB nothing is written. {"free_mib":900}'])
  state.database.freeMib = 1_100
  expect(news()).toEqual([])
  state.database.freeMib = 1_281
  expect(news()).toEqual(['info The disk of DATA_DIR has room again. {"free_mib":1281}'])
})
