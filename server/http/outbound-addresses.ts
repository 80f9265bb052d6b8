// The addresses that outbound requests may reach: only global unicast, unless SVC_OUTBOUND_ALLOW permits more. Pure;
// outbound.ts checks at connection time. Decisions "Webhooks"; IANA's special-purpose address registries.
import net from 'node:net';
import { blockListOf, carriesV4, embeddedV4 } from './network.ts';

/** Whether a connection to `address`, found for `host`, is permitted on `port`. */
export type AddressPolicy = (target: { host: string; port: number; address: string }) => boolean;

const refusedV4 = [
  '0.0.0.0/8', // "this network"
  '10.0.0.0/8',
  '100.64.0.0/10', // carrier-grade NAT; also a cloud's metadata service
  '127.0.0.0/8',
  '168.63.129.16/32', // a cloud's host agent behind a public address
  '169.254.0.0/16', // link-local, metadata services
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16',
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
];
/** IANA has assigned only 2000::/3 as global unicast: everything else is refused, and these ranges within it. */
const globalV6 = '2000::/3';
const refusedV6 = [
  '2001::/23', // IETF protocol assignments: Teredo, benchmarking, ORCHID, …
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: leads to any IPv4 address
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
];
/** RFC 6052: the last four bytes are an IPv4 address, which is the one to check. */

const v4 = blockListOf(refusedV4);
const v6 = blockListOf(refusedV6);
const v6Global = blockListOf([globalV6]);

/** Whether an address is global unicast: neither private, loopback, link-local nor of any other special purpose. */
export function isGlobal(address: string): boolean {
  const [bare = ''] = address.split('%');
  if (net.isIPv4(bare)) return !v4.check(bare, 'ipv4');
  if (!net.isIPv6(bare)) return false;
  if (carriesV4(bare)) return !v4.check(embeddedV4(bare), 'ipv4');
  return v6Global.check(bare, 'ipv6') && !v6.check(bare, 'ipv6');
}

const CIDR = /^(.+)\/(\d{1,3})$/;

interface AllowedHost {
  host: string;
  port: number | undefined;
}

/** `host`, `host:port`, `[v6]:port`, an address or a CIDR; undefined for other text. */
function parseHost(entry: string): AllowedHost | undefined {
  const bare = net.isIPv6(entry) ? `[${entry}]` : entry;
  if (!URL.canParse(`http://${bare}`)) return undefined;
  const url = new URL(`http://${bare}`);
  if (url.pathname !== '/' || url.username !== '' || url.search !== '') return undefined;
  const port = /:(\d+)$/.exec(bare)?.[1];
  return { host: url.hostname, port: port === undefined ? undefined : Number(port) };
}

type Allowed = { network: string; bits: number; family: 'ipv4' | 'ipv6' } | AllowedHost;

function parseEntry(entry: string): Allowed | undefined {
  const [, network = entry, bits] = CIDR.exec(entry) ?? [];
  if (net.isIP(network) === 0) return bits === undefined ? parseHost(entry) : undefined;
  const [family, most] = net.isIPv6(network) ? (['ipv6', 128] as const) : (['ipv4', 32] as const);
  return bits === undefined || Number(bits) <= most ? { network, bits: Number(bits ?? most), family } : undefined;
}

/** Whether an entry of SVC_OUTBOUND_ALLOW is an address, a CIDR or a host, with a port if it permits only that one. */
export const isAllowEntry = (entry: string): boolean => parseEntry(entry) !== undefined;

/**
 * @param allow addresses, networks and hosts that are permitted although they are private
 * @throws Error that names an entry which is neither an address, a CIDR nor a host
 */
export function addressPolicy(allow: readonly string[]): AddressPolicy {
  const networks = new net.BlockList();
  const hosts: AllowedHost[] = [];
  for (const entry of allow) {
    const allowed = parseEntry(entry);
    if (!allowed) throw new Error(`SVC_OUTBOUND_ALLOW: ${entry} is neither a CIDR nor a host`);
    if ('host' in allowed) hosts.push(allowed);
    else networks.addSubnet(allowed.network, allowed.bits, allowed.family);
  }
  const named = (host: string, port: number) =>
    hosts.some((h) => h.host === host.toLowerCase() && (h.port === undefined || h.port === port));
  return ({ host, port, address }) => {
    if (isGlobal(address) || named(host, port)) return true;
    const [bare = ''] = address.split('%');
    return networks.check(bare, net.isIPv6(bare) ? 'ipv6' : 'ipv4');
  };
}
