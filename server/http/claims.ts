// What scopes put into tokens: pure, from a person or a service account. Decisions "Client scope"; OIDC Core §5.
import { type Claim, saysRoles } from '../contract/client-scopes.ts';
import type { Person, Roles } from '../db/person.ts';

/** A client scope as the token path needs it. */
export interface ScopeView {
  name: string;
  description: string | null;
  inTokenScope: boolean;
  claims: readonly Claim[];
}

export type Subject = Person | { roles: Roles };

type Place = 'accessToken' | 'idToken' | 'userinfo';

/** Never taken from a scope: what a token means hangs on them. */
const RESERVED = new Set(
  '__proto__ iss sub aud exp iat nbf jti client_id scope azp nonce at_hash c_hash auth_time acr amr sid gid typ act cnf workload admin_api'.split(
    ' ',
  ),
);

/** The claims that `scopes` give in one place; the first scope that names a claim wins. */
export function claimsOf(scopes: readonly ScopeView[], subject: Subject, place: Place): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const { claims } of scopes) {
    for (const claim of claims) {
      if (!(claim[place] ?? place === 'userinfo') || RESERVED.has(claim.name) || claim.name in out) continue;
      // Stored before the contract refused it.
      if (claim.source !== 'roles' && saysRoles(claim)) continue;
      const value = sourceOf(claim, subject);
      if (value !== undefined && value !== null) put(out, claim.name, value);
    }
  }
  return out;
}

/** A dot nests (`address.locality`), but for names that are URLs. */
function put(out: Record<string, unknown>, name: string, value: unknown): void {
  const [outer = name, inner] = /^([\w-]+)\.([\w-]+)$/.exec(name)?.slice(1) ?? [];
  if (inner === undefined || RESERVED.has(outer)) {
    if (inner === undefined) out[name] = value;
    return;
  }
  const nested = out[outer];
  if (nested === undefined) out[outer] = { [inner]: value };
  else if (typeof nested === 'object' && nested !== null) out[outer] = { [inner]: value, ...nested };
}

function sourceOf(claim: Claim, subject: Subject): unknown {
  if (claim.source === 'constant') return claim.value;
  if (claim.source === 'roles') return rolesAs(claim.name, subject.roles);
  if (!('id' in subject)) return undefined;
  switch (claim.source) {
    case 'attribute':
      return attribute(subject, claim.value ?? claim.name);
    case 'locale':
      return attribute(subject, claim.value ?? 'locale');
    case 'fullName':
      return [subject.firstName, subject.lastName].filter(Boolean).join(' ') || undefined;
    case 'emailVerified':
      return subject.email === null ? undefined : subject.emailVerified;
    default:
      return subject[claim.source];
  }
}

/** One value is a string, several are a list. */
function attribute({ attributes }: Person, name: string): string | boolean | readonly string[] | undefined {
  const values = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
  if (values?.length === 1 && name.endsWith('_verified')) return values[0] === 'true';
  return values && values.length > 1 ? values : values?.[0];
}

/** `realm_access` and `resource_access` have the shape that Keycloak's clients know; any other name is a flat list. */
function rolesAs(name: string, { realm, clients }: Roles): unknown {
  if (name === 'realm_access') return { roles: realm };
  if (name !== 'resource_access') return realm;
  const entries = Object.entries(clients).map(([clientId, roles]) => [clientId, { roles }]);
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}
