// Patterns of the random part of a key, and of a team's whole credential.
export const HEX = '0123456789abcdef0123456789abcdef'
export const TOKEN = `11111111-2222-4333-8444-555555555555.${'aB3_'.repeat(8)}`
