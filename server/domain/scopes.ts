// The scopes that a client gets. Pure. A client's default scopes always apply, its optional ones if they are requested.
// RFC 6749 §3.3; OIDC Core §3.1.2.1 and §11.

import { OAuthError } from '../http/oauth-error.ts';
import type { ScopeView } from './claims.ts';

export const OPENID = 'openid';
export const OFFLINE = 'offline_access';
/** The only scope that lets an application act in a user's account. */
export const ACCOUNT_SCOPE = 'account';
/** Lets a resource server use the protection API, for itself or for a user who allowed it (Federated Authorization for UMA 2.0 §1.3). */
export const PROTECTION_SCOPE = 'uma_protection';
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+( +[\x21\x23-\x5b\x5d-\x7e]+)*$/;

/** The scopes that a client has. */
export interface ScopesOfClient {
  defaultScopes: readonly ScopeView[];
  optionalScopes: readonly ScopeView[];
}

/** The names in a `scope` parameter; undefined without the parameter. Many clients leave a blank at its beginning or end. */
export function scopeNames(parameter: string | undefined): string[] | undefined {
  if (parameter === undefined) return undefined;
  const scope = parameter.replaceAll(/^ +| +$/g, '');
  if (!SCOPE.test(scope)) throw new OAuthError('invalid_scope', 'The scope is malformed');
  return [...new Set(scope.split(/ +/))];
}

/** The names of scopes that the client doesn't have. */
export function strangersAmong(
  { defaultScopes, optionalScopes }: ScopesOfClient,
  requested: readonly string[] = [],
  builtIn: ReadonlySet<string> = new Set(),
): string[] {
  if (requested.length === 0) return [];
  const known = new Set([...defaultScopes, ...optionalScopes].map((s) => s.name));
  return requested.filter((name) => !known.has(name) && !builtIn.has(name));
}

/**
 * The scopes for a request: defaults and the requested ones of the client; `openid` has no claims of its own, so it is returned apart.
 * @throws OAuthError `invalid_scope` on a name that is not the client's
 */
export function grantScopes(
  client: ScopesOfClient,
  requested: readonly string[] | undefined,
  builtIn?: ReadonlySet<string>,
): ScopeView[] {
  const { defaultScopes, optionalScopes } = client;
  if (strangersAmong(client, requested, builtIn).length > 0)
    throw new OAuthError('invalid_scope', 'A scope is not one of this client');
  return [...defaultScopes, ...optionalScopes.filter((s) => requested?.includes(s.name))].filter(
    (s) => s.name !== OPENID,
  );
}

/** Those of the granted scopes that the client still has, with their present claims. */
export function presentScopes(
  { defaultScopes, optionalScopes }: ScopesOfClient,
  granted: readonly string[],
): ScopeView[] {
  return [...defaultScopes, ...optionalScopes].filter((s) => s.name !== OPENID && granted.includes(s.name));
}
