// One spelling for each network address, the network that limits count, and whether an address is inside configured
// networks.
import { BlockList, isIP, isIPv4, isIPv6, SocketAddress } from 'node:net';

/** The first `count` groups of an IPv6 address, each without leading zeros; a dotted IPv4 tail counts as two groups of zeros. */
function firstGroups(address: string, count: number): string {
  const groupsOf = (part: string) =>
    part === '' ? [] : part.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group]));
  const [head = '', tail] = address.split('::');
  const [left, right] = [groupsOf(head), groupsOf(tail ?? '')];
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...Array<string>(zeros).fill('0'), ...right]
    .slice(0, count)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}

const WITH_PORT = /^(?:\[([^\]]*)\]|(\d+(?:\.\d+){3}))(?::\d{1,5})?$/;

/**
 * The one spelling of an address that a proxy or a socket names in any form: `192.0.2.1:443`, `[2001:db8::1]:443`,
 * `::ffff:192.0.2.1` and `64:ff9b::c000:201` (both `192.0.2.1`), `FE80:0::1%eth0`; IPv6 in the form of RFC 5952.
 * Undefined for text that is no address.
 */
export function plainAddress(text: string): string | undefined {
  const [, v6, v4] = WITH_PORT.exec(text) ?? [];
  const [address = ''] = (v6 ?? v4 ?? text).split('%');
  if (isIPv4(address)) return address;
  if (!isIPv6(address)) return undefined;
  return carriesV4(address) ? embeddedV4(address) : new SocketAddress({ address, family: 'ipv6' }).address;
}

/** A subscriber has a whole /64 of IPv6, so limits count that. Text that is no address counts as itself. */
export function network(address: string): string {
  const plain = plainAddress(address) ?? address;
  return isIPv6(plain) ? firstGroups(plain, 4) : plain;
}

/** The wider network that belongs to one place, for the risk score: /24 of IPv4, /48 of IPv6. Undefined for text that is no address. */
export function widerNetwork(address: string): string | undefined {
  const plain = plainAddress(address);
  if (plain === undefined) return undefined;
  return isIPv6(plain) ? `${firstGroups(plain, 3)}::/48` : `${plain.split('.').slice(0, 3).join('.')}.0/24`;
}

/** The most addresses that are read of a chain of proxies: a client can send thousands, and each takes time to read. */
const MOST_FORWARDED = 32;

/**
 * The last addresses of `X-Forwarded-For`, each in its one spelling. Proxies append on the right. The first entry from
 * there that is no address, and all entries to its left, come from the client and are left out.
 */
export function plainForwardedFor(header: string): string {
  const addresses: string[] = [];
  for (let end = header.length; end >= 0 && addresses.length < MOST_FORWARDED; ) {
    const comma = end === 0 ? -1 : header.lastIndexOf(',', end - 1);
    const address = plainAddress(header.slice(comma + 1, end).trim());
    if (address === undefined) break;
    addresses.unshift(address);
    end = comma;
  }
  return addresses.join(', ');
}

/** The names of three ranges that SVC_TRUST_PROXY takes, as Fastify does. */
const named: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.1/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/** A block list of addresses and of networks in CIDR notation. */
export function blockListOf(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs.flatMap((one) => named[one] ?? one)) {
    const [network = '', bits] = cidr.split('/');
    const family = isIPv6(network) ? 'ipv6' : 'ipv4';
    list.addSubnet(network, bits === undefined ? (family === 'ipv6' ? 128 : 32) : Number(bits), family);
  }
  return list;
}

/** Tells whether an address is in one of the networks, which are read once; IPv4 addresses may be in their IPv6 form. */
export function insideOf(networks: readonly string[]): (address: string) => boolean {
  const list = blockListOf(networks);
  return (address) => isIP(address) !== 0 && list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}
export const isInside = (address: string, networks: readonly string[]): boolean => insideOf(networks)(address);

const v6Mapped = blockListOf(['::ffff:0:0/96']);
const v6Nat64 = blockListOf(['64:ff9b::/96']);

/** Whether the last four bytes of an IPv6 address are an IPv4 address: mapped (RFC 4291 §2.5.5.2), or NAT64 (RFC 6052 §2.1). */
export const carriesV4 = (address: string): boolean =>
  v6Mapped.check(address, 'ipv6') || v6Nat64.check(address, 'ipv6');

/** The last four bytes of an IPv6 address as IPv4; the URL parser writes the canonical form (::ffff:7f00:1). */
export function embeddedV4(address: string): string {
  const groups = new URL(`http://[${address}]`).hostname.slice(1, -1).split(':').slice(-2);
  const [high = 0, low = 0] = groups.map((g) => Number.parseInt(g || '0', 16));
  return `${high >> 8}.${high & 0xff}.${low >> 8}.${low & 0xff}`;
}
