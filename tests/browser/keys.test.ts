// Keys, sign-ins and invitations as a person sees them: with the script and without, wide and on a phone.
import { expect, test } from 'bun:test'
import { linkForPerson } from '../../src/process/sign-ins.ts'
import { violations } from '../support/axe.ts'
import { FULL, shortOf } from '../support/full.ts'
import { KEY, MOBILE, withSite } from '../support/site.ts'

const { parley, using, asRobin } = withSite()

const LOOKS = {
  light: { viewport: { width: 1280, height: 800 } },
  dark: { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
  phone: MOBILE,
} as const

test.each(shortOf([true, false], 1))(
  'a key is made, shown once and revoked; with the script (%s) it is copied by a button',
  async (javaScriptEnabled) => {
    await using({ javaScriptEnabled, permissions: ['clipboard-read', 'clipboard-write'] }, async (page, complaints) => {
      await asRobin(page, '/settings')
      await page.click('text=Keys and sign-ins')
      await page.fill('#name', 'Laptop')
      await page.click('text=Make a key')
      const key = /ca_full_[0-9a-f]{32}/.exec((await page.textContent('main'))!)![0]
      expect(await page.isVisible('button[aria-label="Copy: Key"]')).toBe(javaScriptEnabled)
      if (javaScriptEnabled) {
        await page.click('button[aria-label="Copy: Key"]')
        await page.locator('[aria-label="Copy: Key"] use[href="#i-tick"]').waitFor({ state: 'attached' })
        expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(key)
      }
      const ask = async () => (await fetch(`${parley.url}/api/config`, { headers: { authorization: `Bearer ${key}` } })).status
      expect(await ask()).toBe(200)
      await page.goto('/settings/keys')
      expect(await page.textContent('main')).not.toContain(key)
      await page.click('button[aria-label="Revoke the key Laptop"]')
      expect(await page.textContent('[role=alert]')).toContain('The key is revoked')
      expect(await ask()).toBe(401)
      expect(complaints).toEqual([])
    })
  },
)

test('another browser that is signed out there loses its page at once', async () => {
  await using({}, async (own) =>
    using({}, async (other) => {
      await own.goto(`/sign-in?key=${KEY}&name=Robin`)
      await other.goto(`/sign-in?key=${KEY}&name=Kim`)
      await own.goto('/settings/keys')
      await own.click('button[aria-label="Sign out Kim"]')
      expect(await own.textContent('[role=alert]')).toContain('Signed out there')
      await other.reload()
      expect(await other.isVisible('text=Sign in')).toBe(true)
    }),
  )
}, 180_000)

test.skipIf(!FULL).each(Object.entries(LOOKS))(
  'the pages of keys and invitations are readable for everybody, %s',
  async (_, look) => {
    const { session_id } = await parley.post('/sessions', {
      title: 'Shipping the parser',
      description: '',
      creator_team_name: "Alex's Team",
    })
    await using(look, async (page, complaints) => {
      const isFine = async () => {
        expect(await violations(page)).toEqual([])
        expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
      }
      await asRobin(page, '/settings/keys')
      await isFine()
      await page.fill('#name', 'A laptop with quite a long name that goes on and on')
      await page.click('text=Make a key')
      await isFine()
      await page.fill('#person', 'Konstantinopolskaja-Featherstonehaugh the colleague')
      await page.click('text=Make a sign-in link')
      await isFine()
      await page.goto(`/sessions/${session_id}/share`)
      await page.click('text=Make an invitation')
      await isFine()
      const [link] = /http\S+\/join\/\S+/.exec((await page.textContent('main'))!)!
      await page.goto(link)
      await isFine()
      const { token } = await linkForPerson(parley.services, 'Alexandra Konstantinopolskaja-Featherstonehaugh')
      await page.goto(`/sign-in?key=${token.handle}.${token.secret}`)
      await isFine()
      expect(complaints).toEqual([])
    })
  },
  180_000,
)
