/** A text in lower case without accents, each run of these other characters a hyphen; at most 60 characters, '' where nothing is left. */
export const slugOf = (text: string, others: RegExp): string =>
  text.normalize('NFKD').toLowerCase().replace(/\p{M}/gu, '').replace(others, '-').replace(/^-|-$/g, '').slice(0, 60)
