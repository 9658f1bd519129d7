/** How this server is reached, as agents and people are told. */
export interface ServerLink {
  /** The URL of the MCP endpoint. */
  url: string
  /** The server's origin, for REST. */
  base: string
  /** Whether ACCESS_TOKEN is set, so that clients must send it. The commands we show take it from PARLEY_TOKEN. */
  token: boolean
  /** The URL of the program `parley`: on pages, where this server hands one out. */
  program?: string | undefined
}
