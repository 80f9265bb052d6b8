// Converts an identity of a provider to a user of the realm, pure. It finds the claims by the names that OpenID Connect and
// plain OAuth 2.0 providers use, and by the provider's mappers.

import { asciiEmail, isEmail } from '../../../contract/email.ts';
import { isObject } from '../../../contract/json.ts';
import type { Provided } from '../../people/users/provided.ts';
import type { Provider } from './providers.ts';
import type { Identity } from './upstream.ts';

/** An identity that has arrived from a provider, with all data that is kept until its user is found or created. */
export interface Arrived {
  alias: string;
  providerId: string;
  issuer: string;
  subject: string;
  /** The user's name at the provider. */
  name: string | null;
  username: string;
  email: string;
  emailVerified: boolean;
  firstName: string;
  lastName: string;
  /** The values of the provider's mappers. */
  provided: Provided;
  session?: Identity['session'];
}

type Claims = Identity['claims'];
const LONGEST_NAME = 255;
const LONGEST_VALUE = 4096;
const MOST_VALUES = 100;

/** A claim by its name, else by its path (`realm_access.roles`). */
function claimOf(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let at: unknown = claims;
  for (const part of name.split('.')) at = isObject(at) && Object.hasOwn(at, part) ? at[part] : undefined;
  return at;
}
const textOf = (value: unknown): string => (isObject(value) ? JSON.stringify(value) : String(value));
const valuesOf = (claims: Claims, name: string): string[] =>
  [claimOf(claims, name)]
    .flat()
    .filter((value) => value !== undefined && value !== null && value !== '')
    .map((value) => textOf(value).replaceAll('\0', '').slice(0, LONGEST_VALUE))
    .slice(0, MOST_VALUES);
const first = (claims: Claims, names: readonly string[]): string =>
  names
    .flatMap((name) => valuesOf(claims, name).slice(0, 1))
    .map((value) =>
      value
        .replaceAll(/\p{Cc}/gu, ' ')
        .trim()
        .slice(0, LONGEST_NAME),
    )
    .find((value) => value !== '') ?? '';

/** The values that the provider's mappers make of the claims. */
function providedBy({ mappers }: Pick<Provider, 'mappers'>, claims: Claims): Provided {
  const ties = (to: 'role' | 'group') => {
    const has = new Map<string, boolean>();
    for (const { claim, value, target } of mappers.filter((mapper) => mapper.to === to)) {
      const said = valuesOf(claims, claim);
      const holds = (value ?? null) === null ? said.length > 0 && said[0] !== 'false' : said.includes(value ?? '');
      has.set(target, (has.get(target) ?? false) || holds);
    }
    return [...has].map(([name, holds]) => ({ name, holds }));
  };
  const of = (to: 'attribute' | 'property') =>
    mappers
      .filter((mapper) => mapper.to === to)
      .filter(({ claim, value }) => (value ?? null) === null || valuesOf(claims, claim).includes(value ?? ''));
  const properties = of('property').flatMap(({ claim, target }) => {
    const value = first(claims, [claim]);
    return value === '' ? [] : [[target, value] as const];
  });
  return {
    properties: Object.fromEntries(properties),
    attributes: Object.fromEntries(of('attribute').map(({ claim, target }) => [target, valuesOf(claims, claim)])),
    roles: ties('role'),
    groups: ties('group'),
  };
}

/** @param byEmail whether the address is the username */
export function arrivedBy(
  provider: Provider,
  { issuer, subject, claims, session }: Identity,
  { byEmail }: { byEmail: boolean },
): Arrived {
  const provided = providedBy(provider, claims);
  const { properties } = provided;
  const said = first(claims, ['email', 'mail']);
  const given = properties.email ?? said;
  const email = isEmail(given) ? asciiEmail(given) : '';
  const name = first(claims, ['preferred_username', 'login', 'upn', 'nickname']);
  const whole = first(claims, ['name']);
  const space = whole.lastIndexOf(' ');
  const [begin, end] = space < 0 ? [whole, ''] : [whole.slice(0, space), whole.slice(space + 1)];
  const { trustEmail = false } = provider.config;
  const confirmed = String(claims.email_verified) === 'true' && asciiEmail(said).toLowerCase() === email.toLowerCase();
  const firstName = properties.firstName ?? (first(claims, ['given_name']) || begin);
  const lastName = properties.lastName ?? (first(claims, ['family_name']) || end);
  return {
    alias: provider.alias,
    providerId: provider.id,
    issuer,
    subject,
    name: first(claims, ['preferred_username', 'login', 'upn', 'email', 'name']) || null,
    username: byEmail && email !== '' ? email : (properties.username ?? (name || email)),
    email,
    emailVerified: email !== '' && (confirmed || trustEmail),
    firstName,
    lastName,
    provided,
    ...(session && { session }),
  };
}
