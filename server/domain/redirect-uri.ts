// Whether a redirect URI is the client's: exact strings, except for the port of a loopback address. RFC 6749 §3.1.2, RFC 8252 §7.3,
// RFC 9700 §4.1.3. Pure.

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
