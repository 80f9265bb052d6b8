// Web origins (RFC 6454) of browsers, and of the web views in which applications for phones and desktops run: Capacitor, Ionic,
// Tauri, browser extensions. Pure.

const LOOPBACK = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::\d{1,5})?(?:[/?]|$)/;
/** `http://localhost:*` of an address at any port; undefined: it is no loopback address. */
function loopbackOrigin(uri: string): string | undefined {
  const [, host] = LOOPBACK.exec(uri) ?? [];
  return host !== undefined && URL.canParse(uri) ? `http://${host}:*` : undefined;
}

/** A scheme of its own and a host. The URL parser calls the origin of such an address opaque. */
const OWN_SCHEME = /^([a-z][a-z0-9+.-]*:\/\/[a-z0-9._-]+(?::\d{1,5})?)(?:[/?]|$)/;

/** The origin of an address; undefined: it has none that a client could call from. */
function originOf(uri: string): string | undefined {
  const origin = URL.parse(uri)?.origin ?? 'null';
  return origin === 'null' ? OWN_SCHEME.exec(uri)?.[1] : origin;
}

/**
 * A client's origins, with `+` as those of its redirect URIs. The port of a loopback address is `*`: a redirect may come at
 * any port (RFC 8252 §7.3), and the page there calls from it.
 */
export const originsOf = (webOrigins: readonly string[], redirectUris: readonly string[]): Set<string> =>
  new Set(
    webOrigins.flatMap((origin) =>
      origin === '+' ? redirectUris.flatMap((uri) => loopbackOrigin(uri) ?? originOf(uri) ?? []) : [origin],
    ),
  );

export function isOriginOf(origins: ReadonlySet<string>, origin: string): boolean {
  if (origins.has(origin)) return true;
  const anyPort = URL.parse(origin)?.origin === origin ? loopbackOrigin(origin) : undefined;
  return anyPort !== undefined && origins.has(anyPort);
}
