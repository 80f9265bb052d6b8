// Owns: clients, that is applications and service accounts; the same by the admin API and in the realm document.
// Does not own: the roles of their service accounts (service-accounts.ts), generating secrets (secrets.ts), the token path (view.ts).
// Implements: decisions "Client", "Rights"; specification 2.10, 4.10.
import { z } from 'zod';
import { ADMIN_CLI } from '../../../contract/admin-access.ts';
import { KeyAlgorithm } from '../../../contract/algorithms.ts';
import { usesSecret, usesWorkload } from '../../../contract/client-authentication.ts';
import { clientFields, clients } from '../../../contract/clients.ts';
import type { FieldError } from '../../../contract/problem.ts';
import { PROFILE_ALGORITHM, SecurityProfile } from '../../../contract/security-profiles.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import { clientReached } from '../../../domain/reach.ts';
import { ACCOUNT_SCOPE } from '../../../domain/scopes.ts';
import { declaredResource, type ResourceDeps } from '../../../resource/declared.ts';
import { clientRoleKey, joinPaths, strings } from '../../../resource/items.ts';
import type { Fields, PlannedChange, Saved, Wanted } from '../../../resource/part.ts';
import type { Row } from '../../../resource/table.ts';
import { profileFaults, stricterProfile } from './profile.ts';
import { clientFaults, nameFaults, resourceFaults, serverNames } from './rules.ts';
import { hashedSecret } from './secrets.ts';
import { serviceAccountRolesPart } from './service-accounts.ts';
import * as store from './store.ts';

const SCOPES = ['defaultClientScopes', 'optionalClientScopes'] as const;

const scopes = (optional: boolean) => fragment`array(
  select s.name from client_scope_link l join client_scope s on s.realm_id = l.realm_id and s.id = l.scope_id
  where l.realm_id = t.realm_id and l.client = t.id and l.optional = ${optional} order by s.name collate "C")`;

const roles = fragment`array(
  select r.name from client_role cr join role r on r.realm_id = cr.realm_id and r.id = cr.role_id
  where cr.realm_id = t.realm_id and cr.client = t.id and r.client is null order by r.name collate "C")`;

const Shape = z.object(clientFields);

function faults(
  { fields, changed, key, before, renamedFrom }: Saved,
  at: { baseUrl: string; realm: string },
): FieldError[] {
  const secret = typeof fields.secret === 'string' ? fields.secret : undefined;
  // Stored values were accepted before, so only changed clients are checked.
  const shape = Shape.safeParse(fields);
  const found = shape.success ? clientFaults(shape.data, secret !== undefined) : [];
  const resources = changed.includes('allowedResources')
    ? resourceFaults({ clientId: key, allowedResources: strings(fields.allowedResources) }, at)
    : [];
  const name = before === undefined || renamedFrom !== undefined ? nameFaults(key) : [];
  return [...name, ...found, ...resources];
}

const NEEDS_KEY = [
  'idTokenSignedResponseAlg',
  'accessTokenSignedResponseAlg',
  'userinfoSignedResponseAlg',
  'authorizationSignedResponseAlg',
  'introspectionSignedResponseAlg',
  'requestObjectEncryptionAlg',
] as const;

/** The algorithms that these changes choose for the clients' tokens, answers and requests. */
const chosenAlgorithms = (changes: readonly Wanted[]): KeyAlgorithm[] =>
  changes.flatMap(({ action, fields, changed }) => {
    if (action === 'delete') return [];
    const chosen = NEEDS_KEY.filter((field) => action === 'create' || changed.includes(field)).flatMap((field) => {
      const algorithm = KeyAlgorithm.safeParse(fields[field]);
      return algorithm.success ? [algorithm.data] : [];
    });
    return profileOf(fields) === null ? chosen : [...chosen, PROFILE_ALGORITHM];
  });

const profileOf = (fields: Fields): SecurityProfile | null => SecurityProfile.safeParse(fields.profile).data ?? null;

const ofRealm = fragment`(select r.settings ->> 'profile' from realm r where r.realm_id = t.realm_id)`;
/** The profile that counts for a stored client, and what contradicts it. */
function stateOf({ fields, facts }: Row): { effectiveProfile: SecurityProfile | null; profileLacks: string[] } {
  const effectiveProfile = stricterProfile(
    profileOf(fields),
    SecurityProfile.safeParse(facts.realmProfile).data ?? null,
  );
  const shape = Shape.safeParse(fields);
  const lacks = shape.success ? profileFaults(shape.data, effectiveProfile) : [];
  return { effectiveProfile, profileLacks: lacks.map(({ path, message }) => `${path} ${message}`) };
}

/** Warnings about clients that contradict the realm's security profile: they are refused. */
async function againstProfile(
  sql: Sql,
  realm: string,
  objects: readonly { key: string; fields: Fields }[],
  changes: readonly PlannedChange[],
): Promise<{ key: string; message: string }[]> {
  const [stored] = await sql<{ profile: unknown }>`
    select settings ->> 'profile' as profile from realm where realm_id = ${realm}`;
  const declared = changes.find(({ kind, key }) => kind === 'settings' && key === 'profile');
  const profile = SecurityProfile.safeParse(declared ? declared.save.value : stored?.profile).data ?? null;
  return objects.flatMap(({ key, fields }) => {
    const shape = Shape.safeParse(fields);
    const faults = shape.success ? profileFaults(shape.data, profile) : [];
    const message = `is refused: ${faults.map((one) => `${one.path} ${one.message}`).join('; ')}`;
    return faults.length === 0 ? [] : [{ key, message }];
  });
}

/** Warnings about confidential clients without a secret, apart from those that workloads act as, which never need one. */
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

/** Warnings about clients that a workload identity must prove, and that have none. */
async function withoutWorkload(
  sql: Sql,
  realm: string,
  objects: readonly { key: string; fields: Fields }[],
  changes: readonly PlannedChange[],
): Promise<{ key: string; message: string }[]> {
  const asking = objects.filter(({ fields }) => usesWorkload(fields.tokenEndpointAuthMethod)).map(({ key }) => key);
  if (asking.length === 0) return [];
  const stored = await sql<{ name: string; clientId: string }>`
    select name, client_id as "clientId" from workload_identity
    where realm_id = ${realm} and client_id = any(${asking}::text[]) and enabled and use <> 'exchange'`;
  const changed = changes.filter(({ kind }) => kind === 'workloadIdentity');
  const names = new Set(changed.flatMap(({ key, renamedFrom }) => [key, renamedFrom ?? key]));
  const proven = new Set([
    ...stored.filter(({ name }) => !names.has(name)).map(({ clientId }) => clientId),
    ...changed.flatMap(({ action, before, save }) => {
      const after: Fields = { use: 'exchange', enabled: true, ...before, ...save };
      return action === 'delete' || after.use === 'exchange' || !after.enabled ? [] : [String(after.clientId)];
    }),
  ]);
  const message =
    'has no workload identity that authenticates it, so it can’t authenticate: declare one with its clientId and use: authentication';
  return asking.filter((key) => !proven.has(key)).map((key) => ({ key, message }));
}

/** Warnings about declared resources that the realm doesn't list: no client gets tokens for them. */
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

export const clientsResource = ({ passwords, baseUrl, keys, ...deps }: ResourceDeps) =>
  declaredResource(
    clients,
    {
      table: {
        elsewhere: { defaultClientScopes: scopes(false), optionalClientScopes: scopes(true) },
        secrets: { secret: hashedSecret(passwords) },
        facts: {
          serviceAccountRoles: roles,
          previousSecretExpiresAt: fragment`t.previous_secret_expires_at`,
          realmProfile: ofRealm,
        },
      },
      reached: clientReached,
      // An administrator of single clients may change these fields: none for authentication, for the client's requests,
      // or for the flow.
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
      shown: (row) => {
        const { serviceAccountRoles, previousSecretExpiresAt: until } = row.facts;
        return {
          serviceAccountRoles,
          previousSecretExpiresAt: until instanceof Date && until > deps.now() ? until.getTime() : null,
          ...stateOf(row),
        };
      },
      beside: { part: serviceAccountRolesPart, fields: { serviceAccountRoles: 'roles' } },
      check: (saved, realm) => faults(saved, { baseUrl, realm }),
      whole: (sql, realm, changes) => serverNames(sql, realm, { changes, baseUrl }),
      warnings: async (...asked) => [
        ...(await withoutSecret(...asked)),
        ...(await withoutWorkload(...asked)),
        ...(await withoutEffect(...asked)),
        ...(await againstProfile(...asked)),
      ],
      async link(sql, realm, saved) {
        await store.noteCreation(sql, realm, saved);
        await store.setScopes(sql, realm, saved);
        await store.renameInClaims(sql, realm, saved);
      },
      onChange: (tx, realm, changes) => keys.prepare(tx, realm, chosenAlgorithms(changes)),
      // A client's roles are deleted with it, as in the admin API, unless another manager owns them. A claim would have
      // no effect without its client, and could not be written again.
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
      // The name under which its roles are stored.
      actsAs: ({ key, renamedFrom }) => [renamedFrom ?? key],
    },
    deps,
  );
