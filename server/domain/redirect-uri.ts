// Whether a redirect URI is the client's: exact strings, except for the port of a loopback address. RFC 6749 §3.1.2, RFC 8252 §7.3,
// RFC 9700 §4.1.3. Pure.
import { loopbackHosts } from '../contract/names.ts';

const LOOPBACK = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::\d{1,5})?((?:[/?].*)?)$/s;

/** Host and rest of a loopback address, without its port. */
function loopback(uri: string): string | undefined {
  const [, host, rest] = LOOPBACK.exec(uri) ?? [];
  return host === undefined ? undefined : `${host}${rest}`;
}

/** Whether the URI is registered: exactly, or as a loopback address with any port (RFC 8252 §7.3). */
export function isRedirectOf(registered: readonly string[], requested: string): boolean {
  if (registered.includes(requested)) return true;
  const wanted = loopback(requested);
  return wanted !== undefined && URL.canParse(requested) && registered.some((uri) => loopback(uri) === wanted);
}

/** A URI without its fragment. */
export const withoutFragment = (uri: string): string => uri.split('#', 1)[0] ?? '';

/** The URI with parameters in its fragment; a registered one has none of its own. */
export function withFragment(uri: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const url = new URL(uri);
  url.hash = new URLSearchParams(
    Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined),
  ).toString();
  return url.href;
}

/** The URI with more parameters in its query; its own stay as they are. */
export function withQuery(uri: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const url = new URL(uri);
  const more = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) more.append(name, value);
  if (more.size > 0) url.search += `${url.search === '' ? '?' : '&'}${more}`;
  return url.href;
}

export type ApplicationType = 'web' | 'native';

/** The type of application that may register the URI: OpenID Connect Dynamic Client Registration §2; undefined: neither. */
function typeOf(uri: string): ApplicationType | undefined {
  const { protocol, hostname } = new URL(uri);
  const isOwnMachine = loopbackHosts.has(hostname);
  if (protocol === 'https:') return isOwnMachine ? undefined : 'web';
  return protocol !== 'http:' || isOwnMachine ? 'native' : undefined;
}

/** The index of the first URI that no application of this type may register; -1: there is none. */
export const strangerTo = (type: ApplicationType, uris: readonly string[]): number =>
  uris.findIndex((uri) => typeOf(uri) !== type);

/** The type of application that may register all of these; null: neither, or there are none. */
export const applicationTypeOf = (uris: readonly string[]): ApplicationType | null =>
  uris.length === 0 ? null : ((['web', 'native'] as const).find((type) => strangerTo(type, uris) < 0) ?? null);

/** In words, for an error about one URI. */
export const demandOf: Readonly<Record<ApplicationType, string>> = {
  web: 'must be https and not of this machine, for a web application',
  native: 'must be of an app’s own scheme or a loopback address by http, for a native application',
};
