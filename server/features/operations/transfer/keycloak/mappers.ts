// Translates Keycloak's protocol mappers to claims: those of client scopes, of one client, and of SAML clients; pure.
// docs/keycloak.md has the table.
import type { ClaimInput, ClaimPlace } from '../../../../contract/claims.ts';
import { type ClientScope, isCatalogued, type Mapper } from './export-shape.ts';
import type { Notes } from './notes.ts';
import type { KnownClient } from './roles.ts';

/** `pairwise`: the client gets pairwise subjects. */
export type Translated = { claims: ClaimInput[]; pairwise?: boolean } | { why: string };

const places: readonly [string, ClaimPlace][] = [
  ['id.token.claim', 'idToken'],
  ['access.token.claim', 'accessToken'],
  ['userinfo.token.claim', 'userinfo'],
  ['introspection.token.claim', 'introspection'],
];
const properties: Readonly<Record<string, string>> = {
  username: 'username',
  email: 'email',
  emailVerified: 'emailVerified',
  firstName: 'firstName',
  lastName: 'lastName',
};
const jsonTypes: Readonly<Record<string, NonNullable<ClaimInput['jsonType']>>> = {
  long: 'number',
  int: 'number',
  boolean: 'boolean',
  JSON: 'json',
};

/** Mappers for claims that this server puts into every token itself, or doesn't need. */
const itself = new Set([
  'oidc-sub-mapper',
  'oidc-acr-mapper',
  'oidc-amr-mapper',
  'oidc-allowed-origins-mapper',
  'oidc-nonce-backwards-compatible-mapper',
  'oidc-session-state-mapper',
]);

type Config = Readonly<Record<string, string>>;
const on = (config: Config, field: string): boolean => config[field] === 'true';

/** The claim's name in the mapper's config. For `realm_access.roles` and the like it is the whole object's name. */
function named(name: string, config: Config): string {
  const claim = config['claim.name'] || name;
  // biome-ignore lint/suspicious/noTemplateCurlyInString: so Keycloak writes it
  if (claim === 'resource_access.${client_id}.roles') return 'resource_access';
  return claim === 'realm_access.roles' ? 'realm_access' : claim.replaceAll('\\.', '.');
}

const translations: Readonly<Record<string, (config: Config, claim: ClaimInput) => Translated>> = {
  'oidc-usermodel-attribute-mapper': (config, claim) => {
    const attribute = config['user.attribute'] ?? '';
    if (properties[attribute]) return { claims: [{ ...claim, source: 'property', attribute: properties[attribute] }] };
    const aggregate = on(config, 'aggregate.attrs');
    return {
      claims: [{ ...claim, source: 'attribute', attribute, multivalued: on(config, 'multivalued'), aggregate }],
    };
  },
  'oidc-usermodel-property-mapper': (config, claim) => {
    const attribute = properties[config['user.attribute'] ?? ''];
    if (!attribute) return { why: `there is no claim of the property ${config['user.attribute']} here` };
    return { claims: [{ ...claim, source: 'property', attribute }] };
  },
  'oidc-full-name-mapper': (_, claim) => ({
    claims: [{ ...claim, name: 'name', source: 'property', attribute: 'fullName' }],
  }),
  'oidc-address-mapper': (config, claim) => ({
    claims: ['formatted', 'street_address', 'locality', 'region', 'postal_code', 'country'].map((part) => {
      const field = part === 'street_address' ? 'street' : part;
      const attribute = config[`user.attribute.${field}`] || field;
      return { ...claim, name: `address.${part}`, claim: null, source: 'attribute', attribute };
    }),
  }),
  'oidc-usermodel-realm-role-mapper': (config, claim) =>
    config['usermodel.realmRoleMapping.rolePrefix']
      ? { why: 'roles have no prefix in tokens here' }
      : { claims: [{ ...claim, source: 'roles', multivalued: true, jsonType: 'string' }] },
  'oidc-usermodel-client-role-mapper': (config, claim) => {
    if (config['usermodel.clientRoleMapping.rolePrefix']) return { why: 'roles have no prefix in tokens here' };
    const value = config['usermodel.clientRoleMapping.clientId'] || null;
    return { claims: [{ ...claim, source: 'clientRoles', value, multivalued: true, jsonType: 'string' }] };
  },
  'oidc-group-membership-mapper': (config, claim) =>
    config['full.path'] === 'false'
      ? { why: 'groups are paths in tokens here, not names' }
      : { claims: [{ ...claim, source: 'groups', multivalued: true }] },
  'oidc-audience-mapper': (config, claim) => {
    const value = config['included.client.audience'] || config['included.custom.audience'];
    return value ? { claims: [{ ...claim, claim: null, source: 'audience', value }] } : { why: 'names no audience' };
  },
  'oidc-hardcoded-claim-mapper': (config, claim) => ({
    claims: [{ ...claim, source: 'constant', value: config['claim.value'] ?? '' }],
  }),
  'oidc-organization-membership-mapper': (config, claim) => ({
    claims: [
      {
        ...claim,
        name: 'organization',
        source: 'organization',
        multivalued: true,
        jsonType: on(config, 'addOrganizationId') || on(config, 'addOrganizationAttributes') ? 'json' : 'string',
      },
    ],
  }),
  'oidc-usersessionmodel-note-mapper': (config) =>
    config['user.session.note'] === 'AUTH_TIME' || /^client(Host|Address|_id)$/.test(config['user.session.note'] ?? '')
      ? { claims: [] }
      : { why: 'a session has no such notes here' },
  'oidc-sha256-pairwise-sub-mapper': () => ({ claims: [], pairwise: true }),
  'oidc-audience-resolve-mapper': () => ({
    why: 'whom a token is for is asked for here (RFC 8707), or said by a claim of source audience',
  }),
};

/** A mapper of OpenID Connect. */
export function translate({ name, protocolMapper, config = {} }: Mapper, known: KnownClient): Translated {
  if (itself.has(protocolMapper)) return { claims: [] };
  const translation = translations[protocolMapper];
  if (!translation) return { why: `there is no mapper ${protocolMapper} here` };
  const of = config['usermodel.clientRoleMapping.clientId'];
  if (of && !known(of)) return { why: `the client ${of} isn’t carried over` };
  const claim = named(name, config);
  const jsonType = jsonTypes[config['jsonType.label'] ?? ''] ?? 'string';
  return translation(config, {
    name: protocolMapper === 'oidc-audience-mapper' ? name : claim,
    claim: null,
    jsonType,
    in: places.filter(([field]) => on(config, field)).map(([, place]) => place),
  });
}

/** Client scopes whose mappers only add what this server adds anyway: they are not carried over. */
const ownScopes = new Set(['basic', 'acr', 'web-origins', 'service_account']);
export const isOwnScope = (name: string): boolean => ownScopes.has(name);

/** OpenID Connect scopes with the claims that they contain. A claim that two scopes define differently gets two names. */
export function scopesOf(scopes: readonly ClientScope[], notes: Notes, known: KnownClient) {
  const claims = new Map<string, ClaimInput>();
  /** @returns the name under which the claim is stored */
  function keep(claim: ClaimInput, scope: string): string {
    const there = claims.get(claim.name);
    const same = there === undefined || JSON.stringify(there) === JSON.stringify(claim);
    const name = same ? claim.name : `${scope}:${claim.name}`;
    claims.set(name, same ? claim : { ...claim, name, claim: claim.name });
    return name;
  }
  const oidc = scopes.filter(({ protocol = 'openid-connect' }) => protocol === 'openid-connect');
  const clientScopes = oidc.flatMap(({ name, description, attributes = {}, protocolMappers = [] }) => {
    const names = protocolMappers.flatMap((mapper) => {
      const translated = translate(mapper, known);
      if ('claims' in translated) return translated.claims.map((claim) => keep(claim, name));
      notes.add({ kind: 'clientScope', key: name, field: `protocolMappers.${mapper.name}` }, translated.why);
      return [];
    });
    if (isOwnScope(name)) return [];
    const note = (field: string, why: string) =>
      notes.add({ kind: 'clientScope', key: name, field: `attributes.${field}` }, why);
    if (attributes['is.dynamic.scope'] === 'true') note('is.dynamic.scope', 'a scope has no parameters here');
    if (attributes['display.on.consent.screen'] === 'false')
      note('display.on.consent.screen', 'a consent page names each scope here');
    const shown = attributes['consent.screen.text'] ?? '';
    return [
      {
        name,
        ...(shown !== '' && !isCatalogued(shown)
          ? { description: shown }
          : description !== undefined && !isCatalogued(description) && { description }),
        includeInTokenScope: attributes['include.in.token.scope'] !== 'false',
        claims: [...new Set(names)].sort(),
      },
    ];
  });
  return { claims: [...claims.values()], clientScopes };
}

const samlSources: Readonly<Record<string, (config: Config) => Record<string, unknown> | undefined>> = {
  'saml-user-attribute-mapper': (config) => {
    const attribute = config['user.attribute'] ?? '';
    return properties[attribute]
      ? { source: 'property', attribute: properties[attribute] }
      : { source: 'attribute', attribute };
  },
  'saml-user-property-mapper': (config) => {
    const attribute = properties[config['user.attribute'] ?? ''];
    return attribute === undefined ? undefined : { source: 'property', attribute };
  },
  'saml-role-list-mapper': () => ({ source: 'roles' }),
  'saml-group-membership-mapper': (config) => (config['full.path'] === 'false' ? undefined : { source: 'groups' }),
  'saml-hardcode-attribute-mapper': (config) => ({ source: 'constant', value: config['attribute.value'] ?? '' }),
  'saml-organization-membership-mapper': () => ({ source: 'organization' }),
};

/** A mapper of a SAML client; undefined: this server has no equivalent. */
export function samlMapperOf({ name, protocolMapper, config = {} }: Mapper): Record<string, unknown> | undefined {
  const source = samlSources[protocolMapper]?.(config);
  if (!source) return undefined;
  const said = config['attribute.name'] || config['friendly.name'] || name;
  const nameFormat =
    config['attribute.nameformat'] === 'URI Reference'
      ? 'uri'
      : config['attribute.nameformat'] === 'Unspecified'
        ? 'unspecified'
        : 'basic';
  return { name, claim: said === name ? null : said, nameFormat, ...source };
}
