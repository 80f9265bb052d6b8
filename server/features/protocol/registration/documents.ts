// Owns: clients whose id is the address of their metadata: fetched on use, stored as clients, renewed by HTTP's caching rules.
// Does not own: the rules for a document (document.ts, metadata.ts), the guard of requests (http/outbound.ts).
// Implements: draft-ietf-oauth-client-id-metadata-document; decisions "Provisioning".
import { DAY_MS } from '../../../contract/durations.ts';
import type { By } from '../../../contract/events.ts';
import type { Provisioning } from '../../../contract/provisioning.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { inRealm, type RateLimit } from '../../../domain/rate-limit.ts';
import { subjectTypes } from '../../../domain/subjects.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { Outbound, OutboundAnswer } from '../../../http/outbound.ts';
import { OutboundError } from '../../../http/outbound-connection.ts';
import { namesServer } from '../../../http/own-addresses.ts';
import type { ResourceApi } from '../../../resource/api.ts';
import { callerOf } from '../../../resource/nobody.ts';
import type { Resource } from '../../../resource/resource.ts';
import { freshSeconds, isDocumentAddress, metadataIn } from './document.ts';
import { inputOf, updateOf } from './metadata.ts';
import { type PolicySource, policyOf } from './provisioning.ts';
import * as store from './store.ts';

/** The draft recommends 5 KB; keys need more. */
const LIMITS = { timeoutMs: 5_000, maxBytes: 16 * 1024 };

const unusable = (why: string, cause?: unknown) =>
  new OAuthError('invalid_request', `The client’s metadata document cannot be used: ${why}`, { cause });

export interface DocumentDeps {
  sql: Sql;
  outbound: Pick<Outbound, 'fetch'>;
  transact: Transact;
  requestsIn(tx: Tx): ResourceApi;
  clients: Resource;
  baseUrl: string;
  settings: PolicySource;
  /** The rate limits of callers that make this server fetch, and of the hosts. */
  attempts: { address: Pick<RateLimit, 'take'>; host: Pick<RateLimit, 'take'> };
  now: () => Date;
}

export function createClientDocuments(deps: DocumentDeps) {
  const { sql, outbound, transact, requestsIn, clients, settings, baseUrl, attempts, now } = deps;

  const serves = (known: store.Document | undefined): boolean =>
    known?.freshUntil != null && known.freshUntil.getTime() + DAY_MS > now().getTime();

  /** Returns undefined for every fault: details would let a caller explore networks through this server. */
  async function fetched(clientId: string, etag: string | null): Promise<OutboundAnswer | undefined> {
    try {
      const headers = { accept: 'application/json', ...(etag !== null && { 'if-none-match': etag }) };
      const answer = await outbound.fetch(clientId, { headers, ...LIMITS });
      return answer.status >= 500 ? undefined : answer;
    } catch (error) {
      if (error instanceof OutboundError) return undefined;
      throw error;
    }
  }

  async function inputFrom(tx: Tx, realm: string, policy: Provisioning, clientId: string, body: string) {
    const metadata = metadataIn(body, clientId, policy);
    if (typeof metadata === 'string') throw unusable(metadata);
    const ofRealm = await settings.of(realm);
    const types = subjectTypes(ofRealm ?? { subjectStrategy: 'public', subjectAttribute: null });
    const input = inputOf(metadata, {
      policy,
      scopes: await store.scopesOf(tx.sql, realm),
      detailTypes: new Set(await store.detailTypesOf(tx.sql, realm)),
      subjectTypes: types,
      profile: ofRealm?.profile ?? null,
    });
    // No administrator has reviewed the application, so each user must consent.
    return { ...input, consentRequired: true };
  }

  async function makeRoom(tx: Tx, by: By, realm: string, { mostClients }: Provisioning): Promise<void> {
    if ((await store.countRegistered(tx.sql, realm)) < mostClients) return;
    const unused = await store.unusedDocument(tx.sql, realm);
    if (unused === undefined)
      throw new OAuthError('access_denied', 'This realm has as many registered clients as it takes');
    await requestsIn(tx).remove(clients, callerOf({ ...by, actor: null }), realm, { id: unused });
  }

  async function keep(by: By, realm: string, policy: Provisioning, clientId: string, answer: OutboundAnswer) {
    const freshUntil = new Date(now().getTime() + freshSeconds(answer.headers) * 1000);
    const etag = answer.headers.get('etag')?.slice(0, 255) ?? null;
    await transact(
      realm,
      async (tx) => {
        const caller = callerOf({ ...by, actor: null });
        const input = await inputFrom(tx, realm, policy, clientId, answer.body.toString());
        let known = await store.readDocument(tx.sql, realm, clientId);
        if (!known) {
          await makeRoom(tx, by, realm, policy);
          // Another replica may have stored the client while this one waited for the lock.
          known = await store.readDocument(tx.sql, realm, clientId);
        }
        // An administrator has created a client with this id in the meantime.
        if (known && known.freshUntil === null) return;
        const { allowedResources } = policy;
        const stored = known && (await clients.table.find(tx.sql, realm, { id: known.client }));
        const row = stored
          ? await requestsIn(tx).replace(clients, caller, realm, { id: stored.id }, updateOf(input, stored.fields))
          : await requestsIn(tx).create(clients, caller, realm, { ...input, allowedResources, clientId });
        await store.keepDocument(tx.sql, realm, { client: row.id, freshUntil, etag });
      },
      { bookkeeping: true },
    );
  }

  async function renew(by: By, realm: string, policy: Provisioning, clientId: string): Promise<void> {
    const known = await store.readDocument(sql, realm, clientId);
    const answer = await fetched(clientId, known?.etag ?? null);
    if (!answer) {
      if (serves(known)) return;
      throw unusable('it cannot be fetched by https');
    }
    if (known?.freshUntil && answer.status === 304) {
      const freshUntil = new Date(now().getTime() + freshSeconds(answer.headers) * 1000);
      await transact(realm, (tx) => store.keepDocument(tx.sql, realm, { ...known, freshUntil }), { bookkeeping: true });
      return;
    }
    if (answer.status !== 200) throw unusable('it cannot be fetched by https');
    await keep(by, realm, policy, clientId, answer);
  }

  /** Running fetches by realm and address. */
  const renewals = new Map<string, Promise<void>>();

  return {
    /**
     * Makes sure that the client of this id exists with its document's present content. Other ids are ignored.
     * @throws OAuthError for a page, or for the client
     */
    async ensure(realm: string, clientId: string, ipAddress: string): Promise<void> {
      if (!isDocumentAddress(clientId)) return;
      const known = await store.readDocument(sql, realm, clientId);
      // An administrator has created a client with this id.
      if (known && known.freshUntil === null) return;
      const policy = await policyOf(settings, realm);
      const { hostname } = new URL(clientId);
      if (namesServer(clientId, { baseUrl, issuer: (await settings.of(realm))?.issuer ?? null }))
        throw unusable('its address is this server’s');
      if (!policy.metadataDocuments || (policy.metadataHosts.length > 0 && !policy.metadataHosts.includes(hostname)))
        throw new OAuthError('invalid_request', 'The application is not known here');
      if (known?.freshUntil && known.freshUntil > now()) return;
      const name = `${realm} ${clientId}`;
      const under = renewals.get(name);
      if (under) return under;
      const retryAfterSeconds = attempts.address.take(inRealm(realm, ipAddress)) ?? attempts.host.take(hostname);
      if (retryAfterSeconds !== undefined) {
        // A caller who names many documents of a host must not block the host's known clients.
        if (serves(known)) return;
        throw new OAuthError('slow_down', 'Too many metadata documents were asked for', { retryAfterSeconds });
      }
      const renewal = renew({ actor: null, ipAddress }, realm, policy, clientId).finally(() => renewals.delete(name));
      renewals.set(name, renewal);
      return renewal;
    },
  };
}
export type ClientDocuments = ReturnType<typeof createClientDocuments>;
