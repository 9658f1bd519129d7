const REASONS: [RegExp, (withinS: number) => string][] = [
  [/timeout|abort/i, (withinS) => `no answer within ${withinS} s`],
  [/refused|FailedToOpenSocket/i, () => 'the connection was refused'],
  [/notfound|getaddrinfo|resolve|dns/i, () => 'the host name cannot be resolved'],
  [/cert|self.signed|tls|ssl/i, () => 'its certificate is not trusted'],
]

/** Why a request got no answer, in words for people. The error's own words are not told: they may hold the URL. */
export const whyUnreachable = (error: unknown, withinS: number): string => {
  const { name, code, message } = error as { name?: string; code?: string; message?: string }
  return REASONS.find(([pattern]) => pattern.test(`${name} ${code} ${message}`))?.[1](withinS) ?? 'the connection failed'
}
