// Owns: the issuers of other domains that say for which users a client acts, as administrators configure them.
// Does not own: their fields and routes (contract/cross-domain-trusts.ts), redeeming grants (features/protocol/cross-domain).
// Implements: decisions "Cross-domain trust", "Rights": the author of a trust could act as each user whom its issuer can name.
import { crossDomainTrusts } from '../../../contract/cross-domain-trusts.ts';
import { fragment } from '../../../db/sql.ts';
import { administratorsIn } from '../../../domain/at-home.ts';
import { isNoRealms, issuerOf } from '../../../http/own-addresses.ts';
import { declaredResource, type ResourceDeps } from '../../../resource/declared.ts';
import { strings } from '../../../resource/items.ts';
import { clientIn, oneForClient } from '../../../resource/one-for-client.ts';

export const crossDomainTrustsResource = (deps: ResourceDeps) =>
  declaredResource(
    crossDomainTrusts,
    {
      fallsWith: { kind: 'client', which: (_, removed) => fragment`t.client_id = any(${removed}::text[])` },
      check({ fields, changed }, realm) {
        if (!changed.includes('issuer')) return [];
        const issuer = String(fields.issuer);
        if (isNoRealms(issuer, deps.baseUrl))
          return [{ path: 'issuer', message: 'is this server’s, and no realm’s issuer' }];
        return issuer === issuerOf(deps.baseUrl, { realmId: realm, issuer: null })
          ? [{ path: 'issuer', message: 'is the realm itself' }]
          : [];
      },
      whole: oneForClient(
        { kind: 'crossDomainTrust', one: 'trust', field: 'issuer' },
        (sql, realm, clients, without) => sql<{ name: string; clientId: string; value: string }>`
          select name, client_id as "clientId", issuer as value from cross_domain_trust
          where realm_id = ${realm} and client_id = any(${clients}::text[]) and id <> all(${without}::uuid[])`,
      ),
      atOnce: true,
      canonical: ({ emailDomains, ...fields }) => ({
        ...fields,
        ...(emailDomains !== undefined && { emailDomains: strings(emailDomains).map((one) => one.toLowerCase()) }),
      }),
      clientOf: (_, fields) => String(fields.clientId),
      detail: ({ enabled, issuer, scopes, resources, identityProvider, emailDomains }) => ({
        enabled,
        issuer,
        scopes,
        resources,
        identityProvider,
        emailDomains,
      }),
      needs: ({ action }) => (action === 'delete' ? [] : ['users:write']),
      actsAs: ({ before, save }) => [...clientIn(before), ...clientIn(save)],
      signsInAs(changes, realm) {
        const saved = changes.filter(({ action }) => action !== 'delete').map(({ save }) => save);
        const aliases = saved.flatMap(({ identityProvider: alias }) => (typeof alias === 'string' ? [alias] : []));
        const domains = saved.flatMap(({ emailDomains }) => strings(emailDomains));
        return aliases.length + domains.length === 0
          ? undefined
          : fragment`select l.user_id from identity_provider p join identity_link l on l.realm_id = p.realm_id and l.provider_id = p.id
              where p.realm_id = ${realm} and p.alias = any(${aliases}::text[])
              union all ${administratorsIn(realm, domains)}`;
      },
    },
    deps,
  );
