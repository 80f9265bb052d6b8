// The realm document's `clients`; what their service accounts hold is service-accounts.ts's. Specification 2.10; decisions "Client".
import { z } from 'zod';
import { ClientDocument, clientFields, freshClient } from '../../contract/clients.ts';
import type { FieldError } from '../../contract/problem.ts';
import { hashClientSecret, sameClientSecret } from '../../crypto/client-secret.ts';
import type { Passwords } from '../../crypto/passwords.ts';
import { asSet, declared, parsing, strings } from '../../http/document.ts';
import type { Existing, Item, RealmPart, Reference, Saved, StoredSecret } from '../../resource/part.ts';
import * as store from './import-store.ts';
import { clientFaults, resourceFaults, usesSecret } from './rules.ts';

const SETS = [
  'redirectUris',
  'postLogoutRedirectUris',
  'webOrigins',
  'grantTypes',
  'defaultClientScopes',
  'optionalClientScopes',
  'allowedResources',
] as const;
const SECRET_LENGTH = 16;

function itemOf(document: ClientDocument, path: string): Item {
  const { clientId: key, ...fields } = document;
  const sets = Object.fromEntries(SETS.map((field) => [field, asSet<string>(fields[field])]));
  return { key, fields: declared({ ...fields, ...sets }), path };
}
function refersTo({ fields }: Item): Reference[] {
  const scopes = (path: string) => strings(fields[path]).map((key) => ({ kind: 'clientScope', key, path }));
  const flow = typeof fields.flowOverride === 'string' ? fields.flowOverride : undefined;
  return [
    ...scopes('defaultClientScopes'),
    ...scopes('optionalClientScopes'),
    ...(flow === undefined ? [] : [{ kind: 'flow', key: flow, path: 'flowOverride' }]),
  ];
}

export function createClientsPart({
  passwords,
  baseUrl,
  newId,
  now,
}: {
  passwords: Pick<Passwords, 'hash' | 'verify'>;
  baseUrl: string;
  newId: () => string;
  now: () => Date;
}): RealmPart {
  const secretOf = (row: store.MovedClientRow): StoredSecret | null =>
    (row.secret_hash === null && row.secret_slow === null) || !usesSecret(row.token_endpoint_auth_method)
      ? null
      : {
          id: row.id,
          matches: (plain) => sameClientSecret({ hash: row.secret_hash, slow: row.secret_slow }, plain, passwords),
        };

  const existing = (row: store.MovedClientRow): Existing => ({
    fields: {
      name: row.name,
      description: row.description,
      enabled: row.enabled,
      tokenEndpointAuthMethod: row.token_endpoint_auth_method,
      redirectUris: asSet(row.redirect_uris),
      postLogoutRedirectUris: asSet(row.post_logout_redirect_uris),
      webOrigins: asSet(row.web_origins),
      grantTypes: asSet(row.grant_types),
      defaultClientScopes: asSet(row.default_scopes),
      optionalClientScopes: asSet(row.optional_scopes),
      consentRequired: row.consent_required,
      requirePkce: row.require_pkce,
      flowOverride: row.flow_override,
      accessTokenTtlSeconds: row.access_token_ttl_seconds,
      refreshTokenTtlSeconds: row.refresh_token_ttl_seconds,
      jwks: row.jwks,
      jwksUri: row.jwks_uri,
      allowedResources: asSet(row.allowed_resources),
      secret: secretOf(row),
    },
  });

  /** Hashes of the secrets that are new, one after the other: a slow one takes a thread of its own for a while. */
  async function rowsOf(saved: readonly Saved[]) {
    const rows = [];
    for (const { key, fields, changed } of saved) {
      const { secret, ...rest } = fields;
      const fresh = changed.includes('secret') && typeof secret === 'string';
      const { hash, slow } = fresh ? await hashClientSecret(secret, passwords) : { hash: null, slow: null };
      rows.push({ id: newId(), clientId: key, ...rest, setSecret: fresh, hash: hash?.toString('hex') ?? null, slow });
    }
    return JSON.stringify(rows);
  }

  return {
    section: 'clients',
    kind: 'client',
    area: 'clients',
    list: true,
    parse: parsing(ClientDocument, (document, path) => [itemOf(document, path)]),
    print: (objects) => objects.map(({ key, fields }) => ({ clientId: key, ...fields })),
    fresh: () => itemOf({ clientId: '', ...structuredClone(freshClient) }, '').fields,
    secrets: ['secret'],
    async read(sql, realm, keys) {
      const rows = await store.read(sql, realm, keys ?? null);
      return new Map(rows.map((row) => [row.client_id, existing(row)]));
    },
    references: refersTo,
    check: (saved, realm) => faults(saved, { baseUrl, realm }),
    async write(sql, realm, { create, update, remove }) {
      if (create.length > 0 || update.length > 0) {
        const rows = await rowsOf([...create, ...update]);
        await store.upsert(sql, realm, rows, now());
        await store.setSecrets(sql, realm, rows);
        await store.setScopes(sql, realm, rows);
      }
      if (remove.length > 0) await store.remove(sql, realm, remove);
    },
    // Roles of the client vanish with it as they would in the admin API, unless somebody else manages them.
    dependents: store.dependents,
    subject: (key, id) => ({ type: 'client', id, name: key }),
    clientOf: (key) => key,
    actsAs: ({ key }) => [key],
    events: { create: 'CLIENT_CREATED', update: 'CLIENT_UPDATED', delete: 'CLIENT_DELETED' },
  };
}

const Shape = z.object(clientFields);

function faults({ fields, changed, key }: Saved, at: { baseUrl: string; realm: string }): FieldError[] {
  const { secret } = fields;
  const fresh = changed.includes('secret') && typeof secret === 'string';
  const short =
    fresh && secret.length < SECRET_LENGTH
      ? [{ path: 'secret', message: `must have at least ${SECRET_LENGTH} characters` }]
      : [];
  // What is stored already was accepted once; only a client that changes is asked again.
  const shape = Shape.safeParse(fields);
  const found = shape.success ? clientFaults(shape.data, fresh) : [];
  const resources = changed.includes('allowedResources')
    ? resourceFaults({ clientId: key, allowedResources: strings(fields.allowedResources) }, at)
    : [];
  return [...short, ...found, ...resources];
}
