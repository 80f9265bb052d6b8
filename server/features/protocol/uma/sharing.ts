// Owns: sharing of users' resources with other users, on request or not; and the list of resources that others share with a user.
// Does not own: the effect of a share (features/configuration/authorization-services/evaluate.ts), the page
// (features/authentication/account).
// Implements: decisions "Authorization services"; specification 4.11.
import { DAY_SECONDS } from '../../../contract/durations.ts';
import type { By, DomainEvent } from '../../../contract/events.ts';
import { phrase } from '../../../contract/phrases.ts';
import { Problem } from '../../../contract/problem.ts';
import type { ReceivedShare, Share, SharedResource } from '../../../contract/sharing.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { endpointsOf } from '../../../http/realm-endpoints.ts';
import type { Missing } from '../../configuration/authorization-services/decisions.ts';
import type { Send } from '../../configuration/messaging/send.ts';
import * as store from './sharing-store.ts';

/** The most shares of a resource; for more users, share it with a group. */
const MOST_SHARES = 500;

export interface Person {
  userId: string;
  username: string;
}

/** The length of names from other people's input in a message. */
const MOST_OF_NAME = 100;
const MOST_OF_NAMES = 300;

interface Requested {
  rows: readonly store.RequestedShare[];
  missing: readonly Missing[];
  requester: { id: string; username: string };
  clientId: string;
}

const toShare = (row: store.ShareRow): Share => ({
  id: row.id,
  username: row.named,
  scopes: row.scopes,
  requested: row.requested,
  denied: row.denied,
  createdAt: row.created_at.getTime(),
  updatedAt: row.updated_at.getTime(),
});
const invalid = (path: string, message: string) =>
  new Problem('invalid-request', `${path}: ${message}`, { errors: [{ path, message }] });

function refuseStrange(scopes: readonly string[], { scopes: known }: store.OwnedResource): void {
  const strange = scopes.filter((scope) => !known.includes(scope));
  if (strange.length > 0) throw invalid('scopes', `are none of the resource: ${strange.join(', ')}`);
}

const event = (
  type: DomainEvent['type'],
  { realm, by }: { realm: string; by: By },
  clientId: string,
  data: Record<string, unknown>,
): DomainEvent => ({ type, realm, by, clientId, subject: by.actor, data });

export function createSharing({
  sql,
  transact,
  send,
  baseUrl,
  now,
  newId,
}: {
  sql: Sql;
  transact: Transact;
  send: Send;
  baseUrl: string;
  now: () => Date;
  newId: () => string;
}) {
  async function owned(
    on: Sql,
    realm: string,
    person: Person,
    is: (one: store.OwnedResource) => boolean,
  ): Promise<store.OwnedResource> {
    const found = (await store.ownedBy(on, realm, person)).find(is);
    if (!found) throw new Problem('not-found', phrase('noResource'));
    return found;
  }

  /**
   * Sends each owner with an address one message about new requests, in the order of the addresses: messaging/limits.ts
   * locks a row for each.
   */
  async function tellOwners(
    tx: Tx,
    { realm, by }: { realm: string; by: By },
    { rows, missing, requester, clientId }: Requested,
  ): Promise<void> {
    const names = new Map(missing.map(({ resource, name }) => [resource, name]));
    const address = ({ email }: (typeof rows)[number]) => email?.toLowerCase() ?? '';
    const news = Map.groupBy(
      rows
        .filter(({ known, email }) => !known && email !== null)
        .toSorted((a, b) => (address(a) < address(b) ? -1 : 1)),
      ({ userId }) => userId,
    );
    for (const [userId, of] of news)
      await send(tx, {
        realm,
        by,
        userId,
        to: of[0]?.email ?? null,
        templateKey: 'resource-request-email',
        names: [requester.id],
        values: {
          requester: requester.username.slice(0, MOST_OF_NAME),
          resource: of
            .map(({ resource }) => names.get(resource) ?? resource)
            .join(', ')
            .slice(0, MOST_OF_NAMES),
          client: clientId,
          link: endpointsOf(baseUrl, realm).account,
        },
        goodForSeconds: DAY_SECONDS,
      });
  }

  return {
    /** The user's resources, and their shares. */
    async mine(realm: string, person: Person): Promise<SharedResource[]> {
      const [resources, shares] = await Promise.all([
        store.ownedBy(sql, realm, person),
        store.sharesBy(sql, realm, person.userId),
      ]);
      const by = Map.groupBy(shares, ({ client, resource }) => `${client} ${resource}`);
      return resources.map(({ client, ...one }) => ({
        ...one,
        shares: (by.get(`${client} ${one.resource}`) ?? []).map(toShare),
      }));
    },

    async received(realm: string, { userId }: Person): Promise<ReceivedShare[]> {
      return (await store.sharesWith(sql, realm, userId)).map(({ created_at, updated_at, ...one }) => ({
        ...one,
        createdAt: created_at.getTime(),
        updatedAt: updated_at.getTime(),
      }));
    },

    /** The answer is the same if no user has the name. @throws Problem `not-found`, `invalid-request` */
    share: (
      by: By,
      realm: string,
      person: Person,
      wanted: { clientId: string; resource: string; username: string; scopes: readonly string[] },
    ): Promise<Share> =>
      transact(realm, async (tx) => {
        const { clientId, resource: key, username: named } = wanted;
        const resource = await owned(tx.sql, realm, person, (one) => one.clientId === clientId && one.resource === key);
        refuseStrange(wanted.scopes, resource);
        const target = await store.userNamed(tx.sql, realm, named);
        if (target === person.userId) throw invalid('username', 'is your own');
        const { client } = resource;
        if ((await store.countShares(tx.sql, realm, { client, resource: key })) >= MOST_SHARES)
          throw new Problem('too-large', `A resource is shared with at most ${MOST_SHARES} people`);
        const scopes = [...new Set(wanted.scopes)].sort();
        const row = await store.upsertShare(tx.sql, realm, {
          id: newId(),
          client,
          resource: key,
          owner: person.userId,
          target,
          // One form for each name: otherwise two spellings would make one share of a user's name and two of an unknown one.
          named: named.normalize('NFKC'),
          scopes,
          at: now(),
        });
        if (!row) throw new Problem('not-found', phrase('noResource'));
        tx.record(event('RESOURCE_SHARED', { realm, by }, clientId, { resource: key, with: row.named, scopes }));
        return toShare(row);
      }),

    /**
     * Grants these scopes; requested scopes beyond them are denied from then on. @throws Problem `not-found`,
     * `invalid-request`
     */
    answer: (by: By, realm: string, person: Person, id: string, wanted: readonly string[]): Promise<Share> =>
      transact(realm, async (tx) => {
        const before = await store.lockShare(tx.sql, realm, id, person.userId);
        if (!before) throw new Problem('not-found', phrase('sharesNothing'));
        const resource = await owned(
          tx.sql,
          realm,
          person,
          (one) => one.client === before.client && one.resource === before.resource,
        );
        refuseStrange(wanted, resource);
        const scopes = [...new Set(wanted)].sort();
        const refused = [...new Set([...before.denied, ...before.requested])].filter(
          (scope) => !scopes.includes(scope),
        );
        const row = await store.updateShare(tx.sql, realm, id, { scopes, denied: refused.sort(), at: now() });
        if (!row) throw new Problem('not-found', phrase('sharesNothing'));
        const data = { resource: before.resource, with: before.named, scopes, before: before.scopes, denied: refused };
        tx.record(event('RESOURCE_SHARED', { realm, by }, resource.clientId, data));
        return toShare(row);
      }),

    /** Ends a share, by its owner or its recipient. @throws Problem `not-found` */
    end: (by: By, realm: string, { userId }: Person, id: string): Promise<void> =>
      transact(realm, async (tx) => {
        const ended = await store.deleteShare(tx.sql, realm, id, userId);
        if (!ended) throw new Problem('not-found', phrase('noShare'));
        const { clientId, resource, named, scopes, mine } = ended;
        const data = { resource, with: named, scopes, because: mine ? 'owner' : 'recipient' };
        tx.record(event('RESOURCE_SHARE_ENDED', { realm, by }, clientId, data));
      }),

    /** Requests shares in an open transaction. @returns whether an owner's decision is awaited */
    async request(
      tx: Tx,
      realm: string,
      by: By,
      {
        server,
        requester,
        missing,
      }: {
        server: { id: string; clientId: string };
        requester: { id: string; username: string };
        missing: readonly Missing[];
      },
    ): Promise<boolean> {
      const wanted = missing.flatMap(({ resource, scopes, owner }) =>
        owner !== null && scopes.length > 0 ? [{ id: newId(), resource, owner, scopes: scopes.toSorted() }] : [],
      );
      if (wanted.length === 0) return false;
      const rows = await store.requestShares(tx.sql, realm, wanted, {
        client: server.id,
        requester: requester.id,
        named: requester.username,
        at: now(),
      });
      for (const { resource, owner, requested } of rows)
        tx.record({
          ...event('RESOURCE_REQUESTED', { realm, by }, server.clientId, { resource, owner, scopes: requested }),
          subject: { type: 'user', id: requester.id, name: requester.username },
        });
      await tellOwners(tx, { realm, by }, { rows, missing, requester, clientId: server.clientId });
      return rows.some(({ requested }) => requested.length > 0);
    },
  };
}
export type Sharing = ReturnType<typeof createSharing>;
