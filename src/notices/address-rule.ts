import ipaddr from 'ipaddr.js'

/** Whether an IP address is one of the public internet: not of this machine, of a private, shared or local network, a group's, reserved, or
 *  one that only wraps another (6to4, Teredo, NAT64). An IPv4 address in IPv6 clothes is judged as what it is. */
export const isPublicAddress = (address: string): boolean => isAddress(address) && ipaddr.process(address).range() === 'unicast'

// Not the short and octal forms of IPv4, which one program reads otherwise than another.
const isAddress = (text: string) => ipaddr.IPv6.isValid(text) || ipaddr.IPv4.isValidFourPartDecimal(text)
