// What looks like a key's random part, and a whole credential of a team.
export const HEX = '0123456789abcdef0123456789abcdef'
export const TOKEN = `11111111-2222-4333-8444-555555555555.${'aB3_'.repeat(8)}`
