// The scopes of a fresh realm: those of OpenID Connect Core §5.4 with their claims, which userinfo returns, and roles.
// A dot in a claim's name creates a nested object.

import type { ClaimInput, ClaimPlace } from '../../../contract/claims.ts';
import type { ClientScopeInput, freshClientScopes } from '../../../contract/client-scopes.ts';
import { phrases } from '../../../contract/phrases.ts';
import type { Fields } from '../../../resource/part.ts';
import type { Resource } from '../../../resource/resource.ts';
import type { RealmSeed } from '../realms/seed.ts';

const attribute = (name: string, from = name): ClaimInput => ({
  name,
  source: 'attribute',
  attribute: from,
  ...(from.endsWith('_verified') && { jsonType: 'boolean' }),
});
const property = (name: string, from: string, ...more: ClaimPlace[]): ClaimInput => ({
  name,
  source: 'property',
  attribute: from,
  in: ['userinfo', ...more],
});

const profile: ClaimInput[] = [
  property('name', 'fullName'),
  property('given_name', 'firstName'),
  property('family_name', 'lastName'),
  property('preferred_username', 'username', 'accessToken'),
  property('updated_at', 'updatedAt'),
  ...['middle_name', 'nickname', 'profile', 'picture', 'website', 'gender', 'birthdate', 'zoneinfo', 'locale'].map(
    (name) => attribute(name),
  ),
];

const email: ClaimInput[] = [property('email', 'email'), property('email_verified', 'emailVerified')];

const address: ClaimInput[] = ['formatted', 'street_address', 'locality', 'region', 'postal_code', 'country'].map(
  (part) => attribute(`address.${part}`, part === 'formatted' ? 'address' : part),
);

const phone: ClaimInput[] = [attribute('phone_number'), attribute('phone_number_verified')];

const roles: ClaimInput[] = [
  { name: 'realm_access', source: 'roles', in: ['accessToken'] },
  { name: 'resource_access', source: 'clientRoles', in: ['accessToken'] },
];

const groups: ClaimInput[] = [{ name: 'groups', source: 'groups', in: ['idToken', 'userinfo'] }];

const organization: ClaimInput[] = [
  { name: 'organization', source: 'organization', multivalued: true, in: ['accessToken', 'idToken', 'userinfo'] },
];

const seededClaims = [...profile, ...email, ...address, ...phone, ...roles, ...groups, ...organization];
const named = (claims: readonly ClaimInput[]): string[] => claims.map(({ name }) => name);

/** In the admin API's form. */
const seededScopes: readonly (ClientScopeInput & { name: (typeof freshClientScopes)[number] })[] = [
  { name: 'openid', description: phrases.scopeOpenid, claims: [] },
  { name: 'profile', description: phrases.scopeProfile, claims: named(profile) },
  { name: 'email', description: phrases.scopeEmail, claims: named(email) },
  { name: 'address', description: phrases.scopeAddress, claims: named(address) },
  {
    name: 'phone',
    description: phrases.scopePhone,
    claims: named(phone),
  },
  { name: 'roles', description: phrases.scopeRoles, includeInTokenScope: false, claims: named(roles) },
  { name: 'groups', description: phrases.scopeGroups, claims: named(groups) },
  { name: 'organization', description: phrases.scopeOrganization, claims: named(organization) },
  { name: 'account', description: phrases.scopeAccount, claims: [] },
  { name: 'uma_protection', description: phrases.scopeUmaProtection, claims: [] },
  { name: 'offline_access', description: phrases.scopeOffline, claims: [] },
];

export const seedClientScopes =
  ({ claims, scopes, newId }: { claims: Resource; scopes: Resource; newId: () => string }): RealmSeed =>
  async ({ sql }, realm) => {
    const saved = (of: Resource, { name: key, ...given }: Fields & { name: string }) => {
      const fields = { ...of.fresh(realm, key), ...of.fieldsOf(given) };
      return { id: newId(), key, fields, path: '', changed: Object.keys(fields) };
    };
    const create = seededScopes.map((scope) => saved(scopes, scope));
    const made = seededClaims.map((claim) => saved(claims, claim));
    await claims.write(sql, realm, { create: made, update: [], remove: [] });
    await scopes.write(sql, realm, { create, update: [], remove: [] });
    await scopes.link?.(sql, realm, create);
  };
