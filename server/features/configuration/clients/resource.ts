// Owns: clients: what an application or a service account is; the same by the admin API and in the realm document.
// Does not own: what their service accounts hold (service-accounts.ts), making secrets (secrets.ts), the token path (view.ts).
// Implements: decisions "Client", "Rights"; specification 2.10, 4.10.
import { z } from 'zod';
import { ADMIN_CLI } from '../../../contract/admin-access.ts';
import { Client, clientFields, clientRoutes, freshClient } from '../../../contract/clients.ts';
import type { FieldError } from '../../../contract/problem.ts';
import type { Passwords } from '../../../crypto/passwords.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import { clientReached } from '../../../domain/reach.ts';
import { ACCOUNT_SCOPE } from '../../../domain/scopes.ts';
import { asSet, clientRoleKey, joinPaths, strings, withoutUndefined } from '../../../resource/items.ts';
import type { Fields, Item, PlannedChange, Reference, Saved } from '../../../resource/part.ts';
import { type Resource, resource } from '../../../resource/resource.ts';
import { clientFaults, nameFaults, resourceFaults, serverNames, usesSecret } from './rules.ts';
import { hashedSecret } from './secrets.ts';
import { serviceAccountRolesPart } from './service-accounts.ts';
import * as store from './store.ts';

const SETS = [
  'redirectUris',
  'postLogoutRedirectUris',
  'webOrigins',
  'grantTypes',
  'defaultClientScopes',
  'optionalClientScopes',
  'allowedResources',
  'requestUris',
] as const;

const SCOPES = ['defaultClientScopes', 'optionalClientScopes'] as const;

const canonical = (fields: Fields): Fields =>
  withoutUndefined({
    ...fields,
    ...Object.fromEntries(
      SETS.filter((field) => field in fields).map((field) => [field, asSet(strings(fields[field]))]),
    ),
  });

const set = { type: 'text[]', fromRow: (list: unknown) => asSet(strings(list)) } as const;

const scopes = (optional: boolean) => fragment`array(
  select s.name from client_scope_link l join client_scope s on s.realm_id = l.realm_id and s.id = l.scope_id
  where l.realm_id = t.realm_id and l.client = t.id and l.optional = ${optional} order by s.name collate "C")`;

const roles = fragment`array(
  select r.name from client_role cr join role r on r.realm_id = cr.realm_id and r.id = cr.role_id
  where cr.realm_id = t.realm_id and cr.client = t.id and r.client is null order by r.name collate "C")`;

function refersTo({ fields }: Item): Reference[] {
  const named = (path: string) => strings(fields[path]).map((key) => ({ kind: 'clientScope', key, path }));
  const flow = typeof fields.flowOverride === 'string' ? fields.flowOverride : undefined;
  return [
    ...named('defaultClientScopes'),
    ...named('optionalClientScopes'),
    ...(flow === undefined ? [] : [{ kind: 'flow', key: flow, path: 'flowOverride' }]),
  ];
}

const Shape = z.object(clientFields);

function faults(
  { fields, changed, key, before, renamedFrom }: Saved,
  at: { baseUrl: string; realm: string },
): FieldError[] {
  const secret = typeof fields.secret === 'string' ? fields.secret : undefined;
  // Stored values were accepted once; only a client that changes is checked again.
  const shape = Shape.safeParse(fields);
  const found = shape.success ? clientFaults(shape.data, secret !== undefined) : [];
  const resources = changed.includes('allowedResources')
    ? resourceFaults({ clientId: key, allowedResources: strings(fields.allowedResources) }, at)
    : [];
  const name = before === undefined || renamedFrom !== undefined ? nameFaults(key) : [];
  return [...name, ...found, ...resources];
}

/** Confidential clients without a secret; clients that workloads act as never need one. */
async function withoutSecret(
  sql: Sql,
  realm: string,
  objects: readonly { key: string; fields: Fields }[],
  changes: readonly PlannedChange[],
): Promise<{ key: string; message: string }[]> {
  const lacking = objects.filter(({ fields }) => {
    const method = Shape.shape.tokenEndpointAuthMethod.safeParse(fields.tokenEndpointAuthMethod);
    return method.success && usesSecret(method.data) && (fields.secret ?? null) === null;
  });
  if (lacking.length === 0) return [];
  const acted = await sql<{ clientId: string }>`
    select distinct client_id as "clientId" from workload_identity
    where realm_id = ${realm} and client_id = any(${lacking.map(({ key }) => key)}::text[])`;
  const byWorkloads = new Set([
    ...acted.map(({ clientId }) => clientId),
    ...changes.filter(({ kind }) => kind === 'workloadIdentity').map(({ save }) => save.clientId),
  ]);
  const message =
    'has no secret, so it can’t authenticate: declare one (in a Realm resource by secretKeyRef), or have one made (POST …/clients/{id}/secret)';
  return lacking.filter(({ key }) => !byWorkloads.has(key)).map(({ key }) => ({ key, message }));
}

/** Declared resources that the realm doesn't list: no client gets a token for one. */
async function withoutEffect(
  sql: Sql,
  realm: string,
  objects: readonly { key: string; fields: Fields }[],
  changes: readonly PlannedChange[],
): Promise<{ key: string; message: string }[]> {
  const naming = objects.filter(({ key, fields }) => key !== ADMIN_CLI && strings(fields.allowedResources).length > 0);
  if (naming.length === 0) return [];
  const [stored] = await sql<{ list: unknown }>`
    select settings -> 'resourceIndicators' as list from realm where realm_id = ${realm}`;
  const listed = new Set(strings(stored?.list));
  for (const { kind, key, action } of changes)
    if (kind === 'resourceIndicator') listed[action === 'delete' ? 'delete' : 'add'](key);
  return naming.flatMap(({ key, fields }) => {
    const others = strings(fields.allowedResources).filter((one) => !listed.has(one));
    const message = `gets no token for ${others.join(', ')}: not among the realm's resourceIndicators`;
    return others.length === 0 ? [] : [{ key, message }];
  });
}

export const createClientResource = ({
  passwords,
  baseUrl,
  now,
}: {
  passwords: Pick<Passwords, 'hash' | 'verify'>;
  baseUrl: string;
  now: () => Date;
}): Resource =>
  resource(
    {
      section: 'clients',
      wire: Client,
      routes: clientRoutes,
      table: {
        name: 'client',
        columns: {
          name: 'text',
          description: 'text',
          logoUri: 'text',
          clientUri: 'text',
          policyUri: 'text',
          tosUri: 'text',
          enabled: 'boolean',
          tokenEndpointAuthMethod: 'text',
          redirectUris: set,
          postLogoutRedirectUris: set,
          backchannelLogoutUri: 'text',
          frontchannelLogoutUri: 'text',
          webOrigins: set,
          grantTypes: set,
          consentRequired: 'boolean',
          requirePkce: 'boolean',
          requirePushedAuthorizationRequests: 'boolean',
          requireSignedRequestObject: 'boolean',
          requestObjectSigningAlg: 'text',
          requestUris: set,
          idTokenSignedResponseAlg: 'text',
          accessTokenSignedResponseAlg: 'text',
          userinfoSignedResponseAlg: 'text',
          flowOverride: 'text',
          accessTokenTtlSeconds: 'int',
          refreshTokenTtlSeconds: 'int',
          jwks: 'jsonb',
          jwksUri: 'text',
          allowedResources: set,
          dpopBoundAccessTokens: 'boolean',
          tokenExchangeImpersonation: 'boolean',
          mayActClient: 'text',
          subjectType: 'text',
          sectorIdentifierUri: 'text',
          idTokenUserinfoClaims: 'boolean',
        },
        elsewhere: { defaultClientScopes: scopes(false), optionalClientScopes: scopes(true) },
        secrets: { secret: hashedSecret(passwords) },
        facts: { serviceAccountRoles: roles, previousSecretExpiresAt: fragment`t.previous_secret_expires_at` },
        createdAt: true,
      },
      search: ['clientId', 'name'],
      reached: clientReached,
      // Without fields for authentication, for the requests that the client may make, and for the flow.
      open: [
        'name',
        'description',
        'logoUri',
        'clientUri',
        'policyUri',
        'tosUri',
        'redirectUris',
        'postLogoutRedirectUris',
        'backchannelLogoutUri',
        'frontchannelLogoutUri',
        'webOrigins',
        'jwks',
        'jwksUri',
        'requestUris',
        'secret',
      ],
      fresh: () => canonical({ ...structuredClone(freshClient) }),
      canonical,
      shown: ({ facts: { serviceAccountRoles, previousSecretExpiresAt: until } }) => ({
        serviceAccountRoles,
        previousSecretExpiresAt: until instanceof Date && until > now() ? until.getTime() : null,
      }),
      beside: { part: serviceAccountRolesPart, fields: { serviceAccountRoles: 'roles' } },
      references: refersTo,
      check: (saved, realm) => faults(saved, { baseUrl, realm }),
      whole: (sql, realm, changes) => serverNames(sql, realm, { changes, baseUrl }),
      warnings: async (...asked) => [...(await withoutSecret(...asked)), ...(await withoutEffect(...asked))],
      async link(sql, realm, clients) {
        await store.setScopes(sql, realm, clients);
        await store.renameInClaims(sql, realm, clients);
      },
      // The client's roles are deleted with it as in the admin API, unless another manager owns them.
      // Without its client a claim would say nothing, and be refused wherever it is written anew.
      keptWhileNamed: ['claim', 'protocolMapper'],
      dependents: store.dependents,
      renames: {
        same: ['serviceAccountRoles', 'authorizationService'],
        below: ['clientRole', 'protocolMapper'].map((kind) => ({
          kind,
          prefix: (clientId: string) => clientRoleKey(clientId, ''),
        })),
      },
      subject: (key, id) => ({ type: 'client', id, name: key }),
      clientOf: (key) => key,
      lendsAccounts: (_, __, changes) =>
        changes.flatMap(({ path, before, save }) => {
          const had = SCOPES.some((field) => strings(before?.[field]).includes(ACCOUNT_SCOPE));
          const gets = SCOPES.filter((field) => strings(save[field]).includes(ACCOUNT_SCOPE));
          return had ? [] : gets.map((field) => joinPaths(path, field));
        }),
      // By the name under which its roles are stored.
      actsAs: ({ key, renamedFrom }) => [renamedFrom ?? key],
    },
    { now },
  );
