import { describe, expect, test } from 'bun:test'
import { excerpt, searchableText, shortened, textOf } from '../../src/core/events/event-text.ts'
import { indexed, termsOf } from '../../src/search/tokenizer.ts'
import { likelyEvents, weightOf } from '../../src/search/candidates.ts'
import { isOneTypo } from '../../src/search/typos.ts'
import { cpuMs } from '../support/cpu.ts'

const terms = (text: string) => [...termsOf(text).keys()]

describe('terms', () => {
  test.each([
    ['A path', 'src/app/userName.test.ts', ['src/app/username.test.ts', 'username.test.ts', 'src', 'app', 'user', 'name', 'test', 'ts']],
    ['a path of the other kind', 'C:\\Users\\bob', ['c:/users/bob', 'users', 'bob']],
    ['an identifier', 'HTTPServer::get_user', ['httpserver::get_user', 'httpserver', 'get_user', 'http', 'server', 'get', 'user']],
    ['a step of a name', 'Tannery.scrapeHides wicketLedger.ts', ['scrapehides', 'wicketledger', 'tannery.scrapehides', 'wicketledger.ts']],
    ['an error code', 'error TS2345, E0308', ['ts2345', 'ts', '2345', 'e0308', '0308']],
    ['a version', 'v1.2.3', ['v1.2.3']],
    ['a name in full width', 'ＰＡＲＳＥＲ', ['parser']],
    ['writing without spaces', '日本語', ['日本', '本語']],
    ['a name in Chinese', '修复React组件的bug', ['修复', 'react', '组件', '件的', 'bug']],
    ['an error code in Chinese', '出现TS2345错误', ['出现', 'ts2345', 'ts', '2345', '错误']],
    ['an identifier in Chinese', '修复userName的', ['username', 'user', 'name']],
    ['a path in Japanese', 'サーバーのsrc/app/userName.tsを直す', ['サー', 'ーバ', 'バー', 'src/app/username.ts', 'username.ts', 'を直']],
    ['a number in Chinese', '在3月发布，第12章', ['在3', '3月', '月发', '第1', '2章']],
    ['a number beside Chinese', '端口8080已占用，404错误', ['端口', '口8', '8080', '0已', '404', '4错', '错误']],
    ['a date in Japanese', '2024年12月3日に', ['2024', '4年', '年1', '12', '2月', '月3', '3日', '日に']],
    ['a version in Chinese', '版本2.0.1发布', ['版本', '本2', '2.0.1', '1发', '发布']],
    ['a version with its letter in Chinese', '升级到v2.0.1版本', ['v2.0.1', 'v2', '版本']],
    ['a number in Korean', '포트8080은 2024년', ['8080', '2024']],
    ['a name that begins with a number', '用2FA登录', ['2fa', '登录']],
    ['a name in Korean', 'React를 고친 서버v2에서', ['react', '를', '고친', '서버', 'v2', '에서']],
  ])('%s is found whole and by its parts', (_, text, expected) => {
    expect(terms(text)).toEqual(expect.arrayContaining(expected))
  })

  test('the parts of a thing are terms wherever the thing is', () => {
    for (const part of ['parser', 'src/parser', 'lexer.ts', 'lexer'])
      expect(terms('at src/parser/lexer.ts:12')).toEqual(expect.arrayContaining(terms(part).filter((term) => !term.includes('/'))))
  })

  test('a number beside a script without spaces is one term, not pairs of digits', () => {
    expect(terms('端口8080已')).toEqual(['端口', '口8', '0已', '8080'])
    expect(terms('12月')).toEqual(['2月', '12'])
  })

  test('a word of Korean is a term, and so is what its particle follows, once each', () => {
    expect(terms('서버를')).toEqual(['서버를', '서버', '버를'])
    expect(terms('서버')).toEqual(['서버'])
    expect(terms('제3 회의2')).toEqual(['제3', '제', '3', '회의2', '회의', '2'])
    expect(terms('고양이8')).toEqual(['고양이8', '고양이', '고양', '양이', '8'])
    expect(terms('포트8080은')).toEqual(['포트8080은', '포트', '트8', '0은', '8080'])
    expect([...termsOf('서버를 서버8080').values()]).toEqual([1, 2, 1, 1, 1])
  })

  test('nothing of a text can end the notation it is stored in', () => {
    for (const term of terms(`it's "a" \\ 'b' {c,d} (e) | & ! : * é ß 1'2`)) expect(term).not.toMatch(/['"\\,{}()|&!*\s]/)
  })

  test('a text of any size becomes terms, its end included, and no blob does', () => {
    const long = `${'word '.repeat(100_000)} the needle`
    expect(termsOf(long).get('needle')).toBe(1)
    expect(termsOf(long).get('word')).toBe(255)
    expect(terms('a'.repeat(5_000))).toEqual([])
    const different = terms(Array.from({ length: 50_000 }, (_, i) => `字${'長'.repeat(8)}${i}`).join(' '))
    expect(different.join('').length * 3).toBeLessThanOrEqual(600 * 1024)
  })

  test('a term weighs the more, the oftener it is said and the shorter the text', () => {
    const level = (text: string) => indexed(termsOf(text)).levels.get('parser') ?? -1
    const filler = Array.from({ length: 200 }, (_, i) => `other${'abcdefghij'[i % 10]}`).join(' ')
    expect(level('parser parser parser')).toBeGreaterThan(level('the parser is slow'))
    expect(level('the parser is slow')).toBeGreaterThan(level(`parser ${filler}`))
    expect(level(`parser ${filler}`)).toBe(-1)
  })
})

describe('what an event without a text is found by', () => {
  const found = (type: string, content: object) => terms(searchableText(type, { ...content }, 'Bash'))

  test('is its tool and every word of the arguments, the first of each line among them', () => {
    const given = { command: 'npm test\ncargo build\n\tneedle', edits: [{ old: 'one\r\ntwo' }], dry: true, limit: 12 }
    expect(found('tool_call', { arguments: given })).toEqual(
      'bash command npm test cargo build needle edits old one two dry true limit 12'.split(' '),
    )
    expect(found('tool_call', { arguments: 'ls\npwd' })).toEqual(['bash', 'ls', 'pwd'])
    expect(found('tool_call', {})).toEqual(['bash'])
  })

  test('are its own fields', () => {
    expect(found('system', { event: 'note', goals: ['one\ntwo'] })).toEqual(['note', 'goals', 'one', 'two'])
    expect(found('tool_response', { stdout: 'one\ntwo', code: null })).toEqual(['stdout', 'one', 'two', 'code'])
  })

  test.each(['tool_call', 'system', 'tool_response'])('is a Windows path as it was written: %s', (type) => {
    const content = { event: 'x', arguments: { path: 'C:\\new\\table' }, path: 'C:\\new\\table' }
    expect(found(type, content)).toEqual(expect.arrayContaining(terms('C:\\new\\table')))
  })
})

describe('typos', () => {
  test.each([
    ['parser', 'prser'],
    ['parser', 'parrser'],
    ['parser', 'parsed'],
    ['parser', 'praser'],
    ['parser', 'arser'],
    ['parser', 'parse'],
  ])('%s and %s are one typo apart', (a, b) => {
    expect([isOneTypo(a, b), isOneTypo(b, a)]).toEqual([true, true])
  })

  test.each([
    ['parser', 'parser'],
    ['parser', 'prsre'],
    ['parser', 'paxxer'],
    ['parser', 'par'],
    ['parser', 'rapser'],
  ])('%s and %s are not', (a, b) => {
    expect([isOneTypo(a, b), isOneTypo(b, a)]).toEqual([false, false])
  })
})

describe('the plan', () => {
  const ALL = 1_000_000
  const term = (name: string, events: number, levels: number[] | null = null) => ({
    term: name,
    events,
    levels,
    weight: weightOf(events, ALL),
  })

  test('terms that few events have are taken whole', () => {
    expect(likelyEvents([term('rare', 3), term('seldom', 1_200)], ALL)).toEqual([{ column: 'tsv', query: "'rare'|'seldom'" }])
  })

  test('a common term is taken where it weighs most, as far as the budget goes', () => {
    const plan = likelyEvents([term('common', 300_000, [90_000, 5_000, 1_000, 300, 90])], ALL)
    expect(plan).toEqual([{ column: 'hot', query: "('2common'|'3common'|'4common')" }])
  })

  test('two that are common are also taken where they are together', () => {
    const plan = likelyEvents([term('one', 20_000, [0, 0, 0, 0, 0]), term('other', 20_000, [0, 0, 0, 0, 0])], ALL)
    expect(plan).toEqual([{ column: 'tsv', query: "('one')&('other')" }])
  })

  test('what a wider match finds anyway is not looked for apart', () => {
    const levels = [90, 70, 50, 30, 10]
    const queries = likelyEvents([term('one', 400_000, levels), term('other', 500_000, levels)], ALL).map(({ query }) => query)
    expect(queries).toHaveLength(2)
    expect(queries.join()).toContain("('0one'|")
    expect(queries.join()).not.toContain('&')
  })
})

describe('short texts', () => {
  test('a long text is cut, on one line, and says so', () => {
    expect(shortened('one\n  two')).toEqual({ text: 'one two', truncated: false })
    const { text, truncated } = shortened('word '.repeat(500))
    expect(truncated).toBe(true)
    expect(text.length).toBeLessThanOrEqual(241)
  })

  test('an excerpt shows where the term stands, and no half of a character', () => {
    const text = `${'😀 '.repeat(400)}the needle${' hay'.repeat(400)}`
    const made = excerpt(text, ['needle'])
    expect(made.text).toContain('the needle')
    expect(made.truncated).toBe(true)
    expect(made.text.isWellFormed()).toBe(true)
  })

  test('an excerpt shows as it was written what is found in another form', () => {
    const filler = '，한국어 ﬁ '.normalize('NFD').repeat(1_000)
    for (const written of ['ＰＡＲＳＥＲ', 'ﬁnder', 'Ａｌｌｅ́', '𝐩𝐚𝐫𝐬𝐞𝐫'])
      expect(excerpt(`${filler}${written} x${filler}`, ['nowhere', ...terms(written)]).text).toContain(written)
  })

  test('an excerpt shows the word, not a place within another, unless there is no other', () => {
    const text = `An important line.\n${'Something else. '.repeat(60)}It listens on port 8080.`
    expect(excerpt(text, ['port']).text).toContain('port 8080')
    expect(excerpt(text, ['impor', 'port']).text).toContain('port 8080')
    expect(excerpt(text, ['impor']).text).toStartWith('An important')
    const within = `${'Something else. '.repeat(60)}It is important.`
    expect(excerpt(within, ['nowhere', 'port']).text).toContain('important')
  })

  test('an excerpt of a text full of the terms within other words takes no longer for many terms', () => {
    const [text, many] = ['x'.repeat(64 * 1024), Array.from({ length: 24 }, (_, i) => 'x'.repeat(i + 1))]
    expect(cpuMs(() => Array.from({ length: 200 }, () => excerpt(text, many)))).toBeLessThan(1_000) // some 100; were all places of one term looked at for each, 2,000
  })

  test('an excerpt shows the word however many letters before it have another length in lower case', () => {
    const text = `${'İ '.repeat(400)}the needle${' hay'.repeat(400)}`
    expect(excerpt(text, ['needle']).text).toContain('the needle')
    expect(excerpt(`${text} İstanbul`, terms('İstanbul')).text).toContain('İstanbul')
  })

  test('an excerpt shows a Korean noun where its particle follows it', () => {
    const text = `React인데 ${'다른 것. '.repeat(100)}서버를 고친다.`
    expect(excerpt(text, ['서버']).text).toContain('서버를 고친다.')
    expect(excerpt(`Reacts ${text.slice(10)} React를`, ['react', '것']).text).toContain('React를')
  })

  test('a call without a text shows its tool and arguments', () => {
    expect(textOf('tool_call', { arguments: { cmd: 'cargo test', n: 1 } }, 'exec_command')).toBe('exec_command(cmd="cargo test", n=1)')
    expect(textOf('system', { event: 'team_joined', team: "Bea's Team" }, null)).toBe("team_joined, team: Bea's Team")
  })
})
