// RFC 8707: which resources a token may be for. Specification 7: not on the realm's list → invalid_target.
import { OAuthError } from './oauth-error.ts';

/**
 * Refuses what isn't on the realm's list or, where the client has a list, not on the client's. The admin API is implied
 * for a service account that holds admin roles (`ownBehalf`), and for nothing that acts for a person.
 * @throws OAuthError `invalid_target`
 */
export function allowedResources(
  requested: readonly string[],
  {
    realmList,
    client,
    adminAudience,
    ownBehalf,
  }: {
    realmList: readonly string[];
    client: { allowedResources: ReadonlySet<string>; administers: boolean };
    adminAudience: string;
    ownBehalf: boolean;
  },
): string[] {
  const allowed = (resource: string) =>
    resource === adminAudience
      ? ownBehalf && client.administers
      : realmList.includes(resource) && (client.allowedResources.size === 0 || client.allowedResources.has(resource));
  if (!requested.every(allowed)) throw new OAuthError('invalid_target', 'A requested resource is not allowed');
  return [...new Set(requested)];
}
