// The resources that a token may be for (RFC 8707). Specification 7: not on the realm's list → invalid_target.
import { ADMIN_CLI } from '../contract/admin-cli.ts';
import type { TokenEndpointAuthMethod } from '../contract/client-authentication.ts';
import { OAuthError } from '../http/oauth-error.ts';

/**
 * Whether a client may act at the admin API for a user. The admin API in the client's own list isn't enough: an administrator who may
 * edit clients could otherwise obtain the rights of any other one who signs in there. authorize/checks.ts has the further checks.
 */
const actsForAdministrators = (client: Named, adminAudience: string): boolean =>
  client.clientId === ADMIN_CLI && client.authMethod === 'none' && client.allowedResources.has(adminAudience);

interface Named {
  clientId: string;
  authMethod: TokenEndpointAuthMethod;
  allowedResources: ReadonlySet<string>;
}

export interface ResourceRules {
  realmList: readonly string[];
  client: Named & { administers: boolean; registered: boolean };
  adminAudience: string;
  ownBehalf: boolean;
}

/**
 * The resource must be on the realm's list. If the client has a list or has registered itself, it must be on the client's list too. A
 * service account with admin roles may always use the admin API (`ownBehalf`); for a user only one client may.
 */
function allows({ realmList, client, adminAudience, ownBehalf }: ResourceRules, resource: string): boolean {
  if (resource === adminAudience) return ownBehalf ? client.administers : actsForAdministrators(client, adminAudience);
  const anyOfRealm = client.allowedResources.size === 0 && !client.registered;
  return realmList.includes(resource) && (anyOfRealm || client.allowedResources.has(resource));
}

/** @throws OAuthError `invalid_target` */
export function allowedResources(requested: readonly string[], rules: ResourceRules): string[] {
  if (!requested.every((resource) => allows(rules, resource)))
    throw new OAuthError('invalid_target', 'A requested resource is not allowed');
  return [...new Set(requested)];
}

/** The resources that may be requested at this moment. */
export const presentResources = (rules: ResourceRules): string[] =>
  [...rules.realmList, rules.adminAudience].filter((resource) => allows(rules, resource));
