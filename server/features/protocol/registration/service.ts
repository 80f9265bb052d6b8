// Owns: clients that register and manage themselves: their permission, and the registration token in each response.
// Does not own: storing clients, which the admin API's code does; the realm's rules (provisioning.ts).
// Implements: specification 4.8; RFC 7591, RFC 7592.

import { usesSecret } from '../../../contract/client-authentication.ts';
import { Client } from '../../../contract/clients.ts';
import type { By } from '../../../contract/events.ts';
import { Problem } from '../../../contract/problem.ts';
import type { ClientMetadata, RegisteredClient } from '../../../contract/registration.ts';
import { newClientSecret } from '../../../crypto/client-secret.ts';
import { newToken, sha256, wellFormed } from '../../../crypto/tokens.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { subjectTypes } from '../../../domain/subjects.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { Outbound } from '../../../http/outbound.ts';
import type { ResourceApi } from '../../../resource/api.ts';
import { strings } from '../../../resource/items.ts';
import { callerOf } from '../../../resource/nobody.ts';
import type { Resource } from '../../../resource/resource.ts';
import type { Row } from '../../../resource/table.ts';
import { inputOf, metadataOf, updateOf } from './metadata.ts';
import { type PolicySource, policyOf } from './provisioning.ts';
import { refuseForeignSector } from './sector.ts';
import * as store from './store.ts';

export interface RegistrationDeps {
  sql: Sql;
  outbound: Pick<Outbound, 'fetch'>;
  transact: Transact;
  /** The admin API's operations within an open transaction. */
  requestsIn(tx: Tx): ResourceApi;
  clients: Resource;
  settings: PolicySource;
  baseUrl: string;
  now: () => Date;
  newId: () => string;
}

/** Every rejected token gets the same answer, for every cause. */
const refused = () => new OAuthError('invalid_token', 'The access token is not valid here');

export function createRegistration(deps: RegistrationDeps) {
  const { sql, outbound, transact, requestsIn, clients, settings, baseUrl, now, newId } = deps;
  const typesIn = async (realm: string) =>
    subjectTypes((await settings.of(realm)) ?? { subjectStrategy: 'public', subjectAttribute: null });
  const answer = async (realm: string, row: Row, token: string, secret?: string): Promise<RegisteredClient> => {
    const client = Client.parse(clients.toWire(realm, row));
    return {
      client_id: client.clientId,
      ...(secret !== undefined && { client_secret: secret }),
      ...(client.secretSet && { client_secret_expires_at: 0 }),
      client_id_issued_at: Math.floor(client.createdAt / 1000),
      registration_access_token: token,
      registration_client_uri: `${baseUrl}/realms/${realm}/connect/register/${row.id}`,
      ...metadataOf(client, await typesIn(realm)),
    };
  };
  const wanted = async (tx: Tx, realm: string, metadata: ClientMetadata, before?: Row) =>
    inputOf(metadata, {
      policy: await policyOf(settings, realm),
      scopes: await store.scopesOf(tx.sql, realm),
      // An administrator may have given the client others.
      detailTypes: new Set([
        ...(await store.detailTypesOf(tx.sql, realm)),
        ...strings(before?.fields.authorizationDetailsTypes),
      ]),
      subjectTypes: await typesIn(realm),
      profile: (await settings.of(realm))?.profile ?? null,
    });

  /** Finds the client of a registration token, and replaces the token. @returns the new token */
  async function enter(tx: Tx, realm: string, client: string, token: string): Promise<string> {
    const next = newToken('svc_rat_');
    const known =
      wellFormed(token, 'svc_rat_') &&
      (await store.rotate(tx.sql, realm, { client, hash: sha256(token), next: sha256(next) }));
    if (!known) throw refused();
    return next;
  }
  const read = async (tx: Tx, realm: string, id: string): Promise<Row> => {
    const row = await clients.table.find(tx.sql, realm, { id });
    if (!row) throw refused();
    return row;
  };

  /** Fetches nothing for a caller who couldn't register anyway. */
  async function checkSector(metadata: ClientMetadata, mayGoOn: () => Promise<boolean>): Promise<void> {
    if (metadata.sector_identifier_uri !== undefined && (await mayGoOn()))
      await refuseForeignSector(outbound, metadata);
  }

  /** Whether the token is an initial access token with uses left. */
  const isInvited = async (realm: string, token: string): Promise<boolean> =>
    wellFormed(token, 'svc_iat_') && (await store.isInitialToken(sql, realm, sha256(token), now()));

  return {
    isInvited,

    /** @param token of the request; the realm's rules decide whether one is needed */
    async register(
      by: By,
      realm: string,
      metadata: ClientMetadata,
      token: string | undefined,
    ): Promise<RegisteredClient> {
      await checkSector(metadata, async () => {
        const { registration } = await policyOf(settings, realm);
        if (token === undefined) return registration === 'open';
        return registration !== 'closed' && isInvited(realm, token);
      });
      return told(
        transact(realm, async (tx) => {
          const policy = await policyOf(settings, realm);
          if (policy.registration === 'closed')
            throw new OAuthError('access_denied', 'This realm registers no clients');
          const used =
            token !== undefined && wellFormed(token, 'svc_iat_')
              ? await store.useToken(tx.sql, realm, sha256(token), now())
              : undefined;
          if (used === undefined && (policy.registration === 'token' || token !== undefined)) throw refused();
          if ((await store.countRegistered(tx.sql, realm)) >= policy.mostClients)
            throw new OAuthError('access_denied', 'This realm has as many registered clients as it takes');
          const input = await wanted(tx, realm, metadata);
          const confidential = usesSecret(input.tokenEndpointAuthMethod);
          const secret = confidential ? newClientSecret() : undefined;
          const actor =
            used === undefined ? null : ({ type: 'system', id: used, name: 'initial access token' } as const);
          // Only set at registration: an administrator may change the resources later.
          const { allowedResources } = policy;
          const fields = {
            ...input,
            allowedResources,
            clientId: `dcr-${newId()}`,
            ...(secret !== undefined && { secret }),
          };
          const row = await requestsIn(tx).create(clients, callerOf({ ...by, actor }), realm, fields);
          const next = newToken('svc_rat_');
          await store.insertRegistration(tx.sql, realm, row.id, sha256(next));
          return answer(realm, row, next, secret);
        }),
      );
    },

    read: (realm: string, id: string, token: string): Promise<RegisteredClient> =>
      transact(
        realm,
        async (tx) => {
          const next = await enter(tx, realm, id, token);
          return answer(realm, await read(tx, realm, id), next);
        },
        // a new registration token changes no state that events report
        { bookkeeping: true },
      ),

    async update(
      by: By,
      realm: string,
      id: string,
      {
        token,
        metadata,
      }: { token: string; metadata: ClientMetadata & { client_id: string; client_secret?: string | undefined } },
    ): Promise<RegisteredClient> {
      await checkSector(metadata, () => store.isClientsToken(sql, realm, id, sha256(token)));
      return told(
        transact(
          realm,
          async (tx) => {
            const next = await enter(tx, realm, id, token);
            const row = await read(tx, realm, id);
            const { client_id: clientId, client_secret: secret, ...said } = metadata;
            const stored = row.fields.secret;
            const same = secret === undefined || (isSecret(stored) && (await stored.matches(secret)));
            if (clientId !== row.key || !same)
              throw new OAuthError('invalid_client_metadata', 'client_id and client_secret must be this client’s own');
            const input = await wanted(tx, realm, said, row);
            const confidential = usesSecret(input.tokenEndpointAuthMethod);
            const fresh = confidential && stored === null ? newClientSecret() : undefined;
            const actor = { type: 'client', id, name: row.key } as const;
            const fields = { ...updateOf(input, row.fields), ...(fresh !== undefined && { secret: fresh }) };
            const after = await requestsIn(tx).replace(clients, callerOf({ ...by, actor }), realm, { id }, fields);
            return answer(realm, after, next, fresh);
          },
          { bookkeeping: true },
        ),
      );
    },

    remove: (by: By, realm: string, id: string, token: string): Promise<void> =>
      transact(realm, async (tx) => {
        await enter(tx, realm, id, token);
        const { key } = await read(tx, realm, id);
        const actor = { type: 'client', id, name: key } as const;
        await requestsIn(tx).remove(clients, callerOf({ ...by, actor }), realm, { id });
      }),
  };
}
export type Registration = ReturnType<typeof createRegistration>;

const isSecret = (value: unknown): value is { matches(plain: string): boolean | Promise<boolean> } =>
  typeof value === 'object' && value !== null && 'matches' in value;

/** Turns the clients feature's field errors into errors of RFC 7591 §3.2.2. */
async function told<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'invalid-request') throw error;
    const redirect = error.errors?.some(({ path }) => /redirectUris/i.test(path)) ?? false;
    throw new OAuthError(redirect ? 'invalid_redirect_uri' : 'invalid_client_metadata', error.detail, { cause: error });
  }
}
