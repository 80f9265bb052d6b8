// Which network an address is of, for whatever is counted by it, and whether it is in one that somebody named.
import { BlockList, isIP, isIPv6 } from 'node:net';

/** The first groups of an IPv6 address, each without leading zeros. An IPv4 address at the end stands for two groups. */
export function firstGroups(address: string, count: number): string {
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

/** A single subscriber has a whole /64 of IPv6, so that is what counts. */
export const network = (address: string): string =>
  !isIPv6(address) || address.includes('.') ? address : firstGroups(address, 4);

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
