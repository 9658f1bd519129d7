// Looks for credentials in bytes that went to somebody, or were kept: as they are, and in the forms that a text takes on its way.

/** Where one of the credentials was found, by its place in the list: the credential itself is not repeated. */
export interface Found {
  credential: number
  form: string
}

/** The forms of a secret that are looked for. base64 has three, by where in its text the secret begins. */
const formsOf = (secret: string): [form: string, text: string][] => [
  ['raw', secret],
  ['hex', Buffer.from(secret).toString('hex')],
  ['URL', encodeURIComponent(secret)],
  ['JSON', JSON.stringify(secret).slice(1, -1)],
  ['JSON in JSON', JSON.stringify(JSON.stringify(secret).slice(1, -1)).slice(1, -1)],
  ...[0, 1, 2].map((before): [string, string] => ['base64', base64At(secret, before)]),
]

// The characters of base64 that depend on nothing but the secret, where `before` bytes of a group of three stand before it.
const base64At = (secret: string, before: number): string => {
  const padded = Buffer.from('\0'.repeat(before) + secret)
    .toString('base64')
    .replace(/=+$/, '')
  return padded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + Buffer.byteLength(secret)) * 8) / 6))
}

/** The same in the alphabet of base64url. */
const urlSafe = (base64: string) => base64.replaceAll('+', '-').replaceAll('/', '_')

/** What of these credentials stands in the bytes, given as the chunks in which they came: one that is split over two is found. */
export const findCredentials = (chunks: readonly (string | Uint8Array)[], credentials: readonly string[]): Found[] => {
  const [first, ...more] = chunks.map((chunk) => Buffer.from(chunk as Uint8Array))
  const bytes = first === undefined || more.length > 0 ? Buffer.concat([first ?? Buffer.of(), ...more]) : first
  return credentials.flatMap((secret, credential) => {
    // Most secrets look the same in most forms: each text is looked for once, for a data folder has a hundred million bytes.
    const texts = new Map<string, string[]>()
    for (const [form, text] of formsOf(secret))
      for (const one of form === 'base64' ? [text, urlSafe(text)] : [text]) texts.set(one, [...(texts.get(one) ?? []), form])
    const found = [...texts].flatMap(([text, forms]) => (bytes.includes(text) ? forms : []))
    return [...new Set(found)].map((form) => ({ credential, form }))
  })
}
