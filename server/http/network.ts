// Which network an address is of, for whatever is counted by it, and whether it is in one that somebody named.
import { BlockList, isIP, isIPv6 } from 'node:net';

/** A single subscriber has a whole /64 of IPv6, so that is what counts. */
export function network(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address;
  const [head = '', tail] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...Array<string>(zeros).fill('0'), ...right]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}

/** Of addresses and of networks in CIDR notation. */
export function blockListOf(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [network = '', bits] = cidr.split('/');
    const family = isIPv6(network) ? 'ipv6' : 'ipv4';
    list.addSubnet(network, bits === undefined ? (family === 'ipv6' ? 128 : 32) : Number(bits), family);
  }
  return list;
}

/** Whether an address is in one of the networks; one of IPv4 may be written as IPv6 has it. */
export const isInside = (address: string, networks: readonly string[]): boolean =>
  isIP(address) !== 0 && blockListOf(networks).check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
