// Owns: identity providers as administrators configure them.
// Does not own: signing in with them (features/authentication/brokering), placeholders of a document (features/operations/transfer), reaching the endpoints (http/outbound.ts guards it).
// Implements: specification 2.10, 4.10; decisions "Identity provider".
import {
  configFields,
  endpointFields,
  identityProviders,
  isPlaceholder,
  isProviderAddress,
  type ProviderConfig,
} from '../../../contract/identity-providers.ts';
import type { FieldError } from '../../../contract/problem.ts';
import { fragment } from '../../../db/sql.ts';
import { administratorsIn } from '../../../domain/at-home.ts';
import { endLinksOfDeleted, forgetTokens } from '../../../domain/identity-links.ts';
import { declaredResource, type ResourceDeps } from '../../../resource/declared.ts';
import { strings, topField } from '../../../resource/items.ts';
import type { Fields, PlannedChange, Saved, Wanted } from '../../../resource/part.ts';

const isType = (type: unknown): type is keyof typeof configFields => typeof type === 'string' && type in configFields;

/** Settings that the type needs and discovery can't find. */
function lacking(type: keyof typeof configFields, config: ProviderConfig): string | undefined {
  if (type === 'saml')
    return config.metadataUrl || (config.entityId && config.singleSignOnUrl)
      ? undefined
      : 'needs metadataUrl, or entityId and singleSignOnUrl';
  if (type === 'oidc' && config.issuer) return undefined;
  if (type === 'oidc') return 'needs issuer';
  return config.authorizationEndpoint && config.tokenEndpoint && config.userinfoEndpoint
    ? undefined
    : 'needs authorizationEndpoint, tokenEndpoint and userinfoEndpoint';
}

const endpointsOf = (config: ProviderConfig): Fields =>
  Object.fromEntries(endpointFields.map((field) => [`config.${field}`, config[field]]));

function configFaults({ fields: { type, config }, before, path }: Saved): FieldError[] {
  if (!isType(type)) return [];
  const all: ProviderConfig = Object(config);
  const was: ProviderConfig = Object(before?.config);
  // features/operations/transfer has checked a document's placeholders; a request may only keep one that is stored
  const isEndpoint = (field: (typeof endpointFields)[number]) =>
    isProviderAddress(all[field]) || (isPlaceholder(all[field]) && (path !== '' || all[field] === was[field]));
  const foreign = Object.keys(all).filter((field) => !configFields[type].includes(field));
  const unsafe = endpointFields.filter((field) => all[field] !== undefined && !isEndpoint(field));
  const missing = lacking(type, all);
  return [
    ...foreign.map((field) => ({ path: `config.${field}`, message: `is no field of the type ${type}` })),
    ...unsafe.map((field) => ({ path: `config.${field}`, message: 'must be an absolute https address' })),
    ...(missing === undefined ? [] : [{ path: 'config', message: missing }]),
  ];
}

/** An administrator who changes one of these, or enables the provider, could make it assert another user's identity. */
const SAYING = ['type', 'clientId', 'config', 'mappers'];
const saysWhoIsWho = ({ action, fields }: PlannedChange): boolean =>
  action === 'update' &&
  fields.some(({ path, to }) => SAYING.includes(topField(path)) || (path === 'enabled' && to === true));

/** The domains whose users the change redirects to the provider, if it changes the domains or the address. */
const sentThere = ({ action, fields, save }: PlannedChange): string[] =>
  action !== 'delete' &&
  save.enabled === true &&
  (action === 'create' || fields.some(({ path }) => ['type', 'config', 'domains', 'enabled'].includes(topField(path))))
    ? strings(save.domains).map((domain) => domain.toLowerCase())
    : [];

const keepsTokens = (fields: Fields | undefined): boolean => Object(fields?.config).storeToken === true;
const keepsNoMore = ({ action, before, fields }: Wanted): boolean =>
  action === 'update' && keepsTokens(before) && !keepsTokens(fields);

const canonical = ({ mappers, ...fields }: Fields): Fields => ({
  ...fields,
  ...(Array.isArray(mappers) && {
    mappers: mappers
      .map((mapper) => ({ value: null, ...mapper }))
      .sort((a, b) => (String(a.name) < String(b.name) ? -1 : 1)),
  }),
});

export const identityProvidersResource = (deps: ResourceDeps) =>
  declaredResource(
    identityProviders,
    {
      canonical,
      // The alias is part of the addresses that are registered at the provider.
      keyStays: 'make another provider instead',
      check: configFaults,
      sentTo: ({ fields: { config } }) => endpointsOf(Object(config)),
      keptWhileNamed: true,
      dependents: (sql, realm, removed) => sql<{ kind: string; key: string; on: string; field: string }>`
        select 'organization' as kind, o.name as key, n.alias as on, 'identityProviders' as field
        from organization o cross join lateral unnest(o.identity_providers) as n (alias)
        where o.realm_id = ${realm} and n.alias = any(${removed}::text[])`,
      async onChange(tx, realm, changes, by) {
        if (changes.some(({ action }) => action === 'delete'))
          await endLinksOfDeleted(tx, realm, { by, at: deps.now() });
        const forgetful = changes.filter(keepsNoMore).map(({ key }) => key);
        if (forgetful.length > 0) await forgetTokens(tx.sql, realm, forgetful);
      },
      signsInAs(changes, realm) {
        const aliases = changes.filter(saysWhoIsWho).map(({ key }) => key);
        const domains = changes.flatMap(sentThere);
        return aliases.length + domains.length === 0
          ? undefined
          : fragment`select l.user_id from identity_provider p join identity_link l on l.realm_id = p.realm_id and l.provider_id = p.id
              where p.realm_id = ${realm} and p.alias = any(${aliases}::text[])
              union all ${administratorsIn(realm, domains)}`;
      },
      detail: ({ type, enabled }) => ({ type, enabled }),
    },
    deps,
  );
