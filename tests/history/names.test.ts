// The last step of a path (a file, a method) is found in a corpus full of names that are like it.
import { expect, test } from 'bun:test'
import { indexed, throughHistory, trace } from '../support/history.ts'

// What holds the name, the last step of it as people ask for it, and names of the same words: among them the newest and the shortest texts.
const NAMES: [held: string, asked: string[], like: string[]][] = [
  [
    'src/umbral/wicketLedger.ts',
    ['wicketLedger.ts', 'wicketLedger'],
    ['src/umbral/ledgerWicket.ts', 'wicket/ledger.ts', 'wicket.ledger.tsx', 'src/wicketLedger2/umbral.ts', 'ledger of the wicket'],
  ],
  [
    'pkg/fathom/sluice_gate_41.go',
    ['sluice_gate_41.go', 'sluice_gate_41'],
    ['pkg/fathom/sluice_gate_42.go', 'gate_sluice_41.go', 'sluice/gate/41.go', 'gate-41 sluice', 'sluice_gate_14.go'],
  ],
  [
    'Tannery.Vellum.scrapeHides',
    ['scrapeHides', 'Vellum.scrapeHides'],
    ['Tannery.Vellum.hidesScrape', 'Tannery.scrape.hides', 'scrape.Vellum.hides', 'scrapeVellum hides', 'hides to scrape'],
  ],
  [
    'crate::quarry::split-slate',
    ['split-slate', 'quarry::split-slate'],
    ['crate::quarry::slate-split', 'crate::split::slate', 'quarry/split/slate', 'splitSlate', 'slate to split'],
  ],
]
const OFTEN = 15 // like names, each so many times: whatever they have in common is common

throughHistory((ask, parley) => {
  test('the last step of a path or identifier is among the first three where many names are like it', async () => {
    const long = Array.from({ length: 1_500 }, (_, i) => `line${i} of a build`).join(' ')
    const { events } = await trace(parley(), [NAMES.map(([held]) => ({ type: 'tool_response', text: `${long} at ${held}:12 ${long}` }))])
    const decoys = NAMES.flatMap(([, , like]) => like.flatMap((name) => Array.from({ length: OFTEN }, () => `${name} ${name}`)))
    await trace(
      parley(),
      decoys.map((text) => [{ type: 'tool_response', text }]),
      { from: '2026-05-01T00:00:00Z' },
    )
    await indexed(parley())
    const missed: string[] = []
    for (const [i, [, asked]] of NAMES.entries()) {
      for (const query of asked) {
        const { data } = await ask('search_sessions', { query })
        const place = data.results.findIndex(({ id }: { id: string }) => id === events[i])
        if (place < 0 || place > 2) missed.push(`${query}: at ${place}`)
      }
    }
    expect(missed).toEqual([])
  })
})
