// Takes out of texts what a report to others must not hold: addresses of people and machines, secrets, and the names of realms.
// Pure. The same name gets the same stand-in throughout one bundle. docs/troubleshooting.md lists what is replaced.
import { isIP } from 'node:net';
import { MASTER } from '../server/contract/realms.ts';

export interface Redaction {
  text(value: string): string;
  /** Every text in a JSON value, but not its keys. */
  value(value: unknown): unknown;
  /** The labels of metrics in the text exposition format. */
  metrics(text: string): string;
}

/** Bounded, as each of these is tried at every character. */
const ADDRESS = /[^\s@"'<>()[\]{},;:/]{1,64}@[^\s@"'<>()[\]{},;:/]{1,255}/g;
const URL_HOST = /\b([a-z][a-z+.-]{0,20}:\/\/)([^\s/?#"'<>]*)([^\s"'<>]*)/gi;
const V4 = /(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]*\d)/g;
const V6 = /[0-9a-f:]{3,45}/gi;
const WORD = /[\p{L}\p{N}._~-]+/gu;
/** Keys and tokens; a UUID names a thing, and its hyphens keep it apart. */
const LONG = /(?<![\w+/=.-])[\w+/=.]{40,}(?![\w+/=.-])/g;
const JWT = /\beyJ[\w-]+\.[\w.-]*/g;
const LABEL = /(?<=[{,][a-z_]+=")((?:[^"\\]|\\.)*)(?=")/g;

/** @param realms their names; none: they stay */
export function createRedaction(realms: readonly string[]): Redaction {
  const standIns = new Map(realms.filter((name) => name !== MASTER).map((name, index) => [name, `realm-${index + 1}`]));
  const hosts = new Map<string, string>();
  const hostFor = (host: string): string => {
    if (/^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(host)) return host;
    const name = hosts.get(host) ?? `host-${hosts.size + 1}`;
    hosts.set(host, name);
    return name;
  };
  const machine = (word: string): string =>
    word === '127.0.0.1' || word === '::1' || !isIP(word) ? word : '(IP address)';
  const text = (value: string): string =>
    value
      .replace(JWT, '(token)')
      .replace(URL_HOST, (_, scheme: string, authority: string, rest: string) => {
        const host = authority.slice(authority.lastIndexOf('@') + 1);
        return `${scheme}${hostFor(host)}${/[?#]/.test(rest) ? `${rest.split(/[?#]/)[0]}?(…)` : rest}`;
      })
      .replace(ADDRESS, '(e-mail address)')
      .replace(V4, machine)
      .replace(V6, machine)
      .replace(LONG, '(long value)')
      .replace(WORD, (word) => standIns.get(word) ?? word);
  const value = (one: unknown): unknown => {
    if (typeof one === 'string') return text(one);
    if (Array.isArray(one)) return one.map(value);
    if (typeof one !== 'object' || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([key, inner]) => [key, value(inner)]));
  };
  return {
    text,
    value,
    metrics: (lines) => lines.replace(LABEL, (label) => text(label)),
  };
}
