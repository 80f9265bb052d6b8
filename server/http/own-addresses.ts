// The owner of an address below `{base_url}`, in any spelling. Only the realm itself may have an address below its path as an issuer or
// a resource; no realm may have the admin API's. Pure. Decisions "Admin authentication"; RFC 3986 §6.
import type { RealmSettingsDto } from '../contract/settings.ts';

/** The resource that admin bearer tokens are for. */
export const adminAudience = (baseUrl: string): string => `${baseUrl}/admin`;

/** The address of that resource's metadata: RFC 9728 §3.1. */
export const adminMetadata = (baseUrl: string): string => `${baseUrl}/.well-known/oauth-protected-resource/admin`;

/** Where the console is. */
export const CONSOLE_PATH = '/admin/console';

export interface RealmAt {
  baseUrl: string;
  realm: string;
}
const ownPath = ({ baseUrl, realm }: RealmAt): string => `${baseUrl}/realms/${realm}`;

/** Whether an address belongs to this server, but not to the realm. */
export const isAnothers = (address: string, at: RealmAt): boolean =>
  isWithin(at.baseUrl, address) && !isWithin(ownPath(at), address);

export const anothersResource = (address: string): string => `${address} is this server’s, and not this realm’s own`;

/** Whether a client id is an address of this server or the realm's issuer: its tokens would be valid at the server's own APIs. */
export const namesServer = (clientId: string, at: { baseUrl: string; issuer: string | null }): boolean => {
  const place = placeOf(clientId);
  return place !== undefined && (isWithin(at.baseUrl, clientId) || place === placeOf(at.issuer ?? ''));
};

/** Whether an address belongs to this server, but to no realm. */
export const isNoRealms = (address: string, baseUrl: string): boolean =>
  isWithin(baseUrl, address) && !isWithin(`${baseUrl}/realms`, address);

/**
 * The realm's own issuer, else `{base_url}/realms/{realm}`. An issuer that belongs to another realm, stored before that
 * was refused, is ignored.
 */
export function issuerOf(baseUrl: string, { realmId: realm, issuer }: Pick<RealmSettingsDto, 'realmId' | 'issuer'>) {
  return issuer === null || isAnothers(issuer, { baseUrl, realm }) ? ownPath({ baseUrl, realm }) : issuer;
}

function isWithin(root: string, address: string): boolean {
  const [place, at] = [placeOf(root), placeOf(address)];
  return place !== undefined && (at === place || (at?.startsWith(`${place}/`) ?? false));
}

/** The address as even a lax parser resolves it, as plain text, so that two spellings of one place compare equal. */
function placeOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, hostname, port, pathname } = new URL(address);
  if (protocol !== 'https:' && protocol !== 'http:') return undefined;
  const place = [`${hostname.replace(/\.$/, '')}:${port}`];
  for (const segment of decoded(pathname).split(/[/\\]+/)) {
    if (segment === '..') place.splice(Math.max(1, place.length - 1));
    else if (segment !== '' && segment !== '.') place.push(segment);
  }
  return place.join('/');
}

/** Decodes the path, even if it was encoded twice. Bytes beyond ASCII stay, since none of the server's paths has any. */
function decoded(path: string): string {
  const once = path.replaceAll(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return once === path ? path : decoded(once);
}

/**
 * The path at which a realm's sign-in for the admin API continues: below the realm, because browsers send the realm's
 * cookies only there.
 */
export const adminArrivalPath = (realm: string): string => `/realms/${realm}/login/admin`;
/** The path at which an administrator comes to their own account, below the realm for the same reason. */
export const adminAccountPath = (realm: string): string => `${adminArrivalPath(realm)}/account`;
