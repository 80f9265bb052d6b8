// The scopes of a fresh realm: those of OpenID Connect Core §5.4 with their claims, and roles. A dot in a claim's name nests.
import type { Claim, ClientScopeInput, freshClientScopes } from '../../contract/client-scopes.ts';
import type { Resource } from '../../resource/resource.ts';
import type { RealmSeed } from '../realms/seed.ts';

const attribute = (claim: string, name = claim): Claim => ({ name: claim, source: 'attribute', value: name });

const profile: Claim[] = [
  { name: 'name', source: 'fullName', idToken: true },
  { name: 'given_name', source: 'firstName', idToken: true },
  { name: 'family_name', source: 'lastName', idToken: true },
  { name: 'preferred_username', source: 'username', idToken: true, accessToken: true },
  ...['middle_name', 'nickname', 'profile', 'picture', 'website', 'gender', 'birthdate', 'zoneinfo'].map((name) =>
    attribute(name),
  ),
  { name: 'locale', source: 'locale' },
];

const email: Claim[] = [
  { name: 'email', source: 'email', idToken: true },
  { name: 'email_verified', source: 'emailVerified', idToken: true },
];

const address: Claim[] = ['formatted', 'street_address', 'locality', 'region', 'postal_code', 'country'].map((part) =>
  attribute(`address.${part}`, part === 'formatted' ? 'address' : part),
);

const roles: Claim[] = [
  { name: 'realm_access', source: 'roles', accessToken: true, userinfo: false },
  { name: 'resource_access', source: 'roles', accessToken: true, userinfo: false },
];

/** Written as the admin API writes them. */
const seededScopes: readonly (ClientScopeInput & { name: (typeof freshClientScopes)[number] })[] = [
  { name: 'openid', description: 'Sign you in', claims: [] },
  { name: 'profile', description: 'Your name and other profile details', claims: profile },
  { name: 'email', description: 'Your e-mail address', claims: email },
  { name: 'address', description: 'Your postal address', claims: address },
  {
    name: 'phone',
    description: 'Your phone number',
    claims: [attribute('phone_number'), attribute('phone_number_verified')],
  },
  { name: 'roles', description: 'Your roles', includeInTokenScope: false, claims: roles },
  { name: 'groups', description: 'Your groups', claims: [{ name: 'groups', source: 'groups', idToken: true }] },
  { name: 'account', description: 'Manage your account', claims: [] },
  { name: 'offline_access', description: 'Access while you are signed out', claims: [] },
];

export const seedClientScopes =
  ({ scopes, newId }: { scopes: Resource; newId: () => string }): RealmSeed =>
  ({ sql }, realm) =>
    scopes.write(sql, realm, {
      create: seededScopes.map(({ name: key, ...given }) => {
        const fields = { ...scopes.fresh(realm, key), ...scopes.fieldsOf(given) };
        return { id: newId(), key, fields, path: '', changed: Object.keys(fields) };
      }),
      update: [],
      remove: [],
    });
