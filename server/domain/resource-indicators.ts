// RFC 8707: which resources a token may be for. Specification 7: not on the realm's list → invalid_target.
import { ADMIN_CLI } from '../contract/admin-cli.ts';
import type { TokenEndpointAuthMethod } from '../contract/clients.ts';
import { OAuthError } from '../http/oauth-error.ts';

/**
 * Whether a client may act at the admin API for a person. That its own list names the admin API isn't enough: whoever may
 * edit clients could then lend themselves an administrator's rights. What else protects it is authorize/checks.ts's.
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
 * It must be on the realm's list and, where the client has a list or has registered itself, on the client's. The admin API is implied for a service
 * account that holds admin roles (`ownBehalf`); for a person there is one client.
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

/** All that may be asked for at this moment. */
export const presentResources = (rules: ResourceRules): string[] =>
  [...rules.realmList, rules.adminAudience].filter((resource) => allows(rules, resource));
