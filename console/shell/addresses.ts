// Addresses of the console, and of the pages before it. Pages build their links from these.

/** As console/build.ts and the server have it, without the slash at its end. */
export const BASE = '/admin/console';
export const SIGN_IN = '/admin/login';

/** A path may have a colon (RFC 3986 §3.3); natural keys have some: `EMAIL:smtp`. */
const part = (text: string): string => encodeURIComponent(text).replaceAll('%3A', ':');

const REALM = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
/** Whether a realm may have this name. Any other text in its place of an address is some stranger's, and leads nowhere. */
export const isRealmName = (text: string): boolean => REALM.test(text);

export const realmsAddress = '/realms';
export const realmAddress = (realm: string): string => `/realms/${part(realm)}`;
/** @param parts below the realm: `inRealm('acme', 'clients', 'shop')` */
export const inRealm = (realm: string, ...parts: readonly string[]): string =>
  [realmAddress(realm), ...parts.map(part)].join('/');

const RETURN_TO = 'realmkeeper.return-to';

/**
 * Leaves for the sign-in. The address is kept in this tab, where the console looks for it afterwards ({@link comeBack}): no
 * address travels through the sign-in, so none can lead elsewhere.
 */
export function rememberPlace(): void {
  sessionStorage.setItem(RETURN_TO, location.pathname + location.search);
}

/** After a sign-in, the address at which it was needed; it can be one of the console alone. */
export function comeBack(): void {
  const kept = sessionStorage.getItem(RETURN_TO);
  if (kept === null) return;
  sessionStorage.removeItem(RETURN_TO);
  const to = URL.parse(kept, location.origin);
  if (to?.origin === location.origin && to.pathname.startsWith(`${BASE}/`))
    history.replaceState(null, '', to.pathname + to.search);
}
