/** How this server is reached, as agents and their people are told. */
export interface ServerLink {
  /** The link for MCP. */
  url: string
  /** The server's own address, for REST. */
  base: string
  /** An ACCESS_TOKEN is set: clients must send it. They take it from PARLEY_TOKEN. */
  token: boolean
}
