/** A tool of control whose name rooms has too, in a sentence for callers at every address. */
export const inControl = (name: 'create_session' | 'get_session'): string => `control_${name} (at /mcp/control: ${name})`
