const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** `1.2M tokens, $0.84`; a CLI that names no price leaves the money out, one that names the price alone the tokens. */
export const usageWords = (tokens: number, usd: number | null): string =>
  [...(tokens > 0 || usd === null ? [`${COMPACT.format(tokens)} tokens`] : []), ...(usd === null ? [] : [dollars(usd)])].join(', ')

export const dollars = (usd: number): string => `$${usd > 0 && usd < 0.01 ? '0.01' : usd.toFixed(2)}`
