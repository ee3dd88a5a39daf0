/**
 * Which addresses of the internet a stranger may make this gateway connect to: public ones, and nothing that is only
 * reachable from where the gateway runs.
 * Sources: IANA's special-purpose registries, https://www.iana.org/assignments/iana-ipv4-special-registry and
 * …/iana-ipv6-special-registry (2026-11).
 */
import { BlockList, isIPv4, isIPv6 } from 'node:net'

const refused = new BlockList()

const refusedIPv4 = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carrier-grade NAT, and Alibaba's metadata
  ['127.0.0.0', 8], // loopback
  ['168.63.129.16', 32], // Azure's platform
  ['169.254.0.0', 16], // link-local, and most clouds' metadata
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments, and Oracle's metadata
  ['192.0.2.0', 24], // documentation
  ['192.31.196.0', 24], // AS112
  ['192.52.193.0', 24], // AMT
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private
  ['192.175.48.0', 24], // AS112
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, and broadcast
] as const

/** Inside 2000::/3, which alone is public: loopback, mapped, NAT64, unique local, link-local, multicast lie outside. */
const refusedIPv6 = [
  ['2001::', 23], // protocol assignments: Teredo, ORCHID, benchmarks
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4: an IPv4 address in disguise
  ['2620:4f:8000::', 48], // AS112
  ['3fff::', 20], // documentation
] as const

for (const [network, prefix] of refusedIPv4) refused.addSubnet(network, prefix, 'ipv4')
for (const [network, prefix] of refusedIPv6) refused.addSubnet(network, prefix, 'ipv6')

const publicIPv6 = new BlockList()
publicIPv6.addSubnet('2000::', 3, 'ipv6')

/** `address`: a literal without brackets. False for what is no address. */
export const isPublicAddress = (address: string): boolean => {
  if (isIPv4(address)) return !refused.check(address, 'ipv4')
  if (!isIPv6(address) || address.includes('%')) return false
  return publicIPv6.check(address, 'ipv6') && !refused.check(address, 'ipv6')
}
