// Owns: streams as receivers create, change and end them, their status and verification, and the tokens that receivers fetch.
// Does not own: which clients may (features/protocol/signal-receivers), making and pushing tokens (tokens-job.ts, push-job.ts), whom a
// stream is about (subjects.ts).
// Implements: SSF 1.0 §8.1; RFC 8936; decisions "Signal receiver".
import { setTimeout as sleep } from 'node:timers/promises';
import type { By, DomainEvent } from '../../../contract/events.ts';
import { Problem } from '../../../contract/problem.ts';
import type { SignalStream } from '../../../contract/signal-receivers.ts';
import { deliveryMethods, POLL, STREAM_UPDATED, uriOfSignal, VERIFICATION } from '../../../contract/signals.ts';
import type { PollInput, Stream, StreamChange, StreamInput } from '../../../contract/ssf.ts';
import { MANAGE_SCOPE, READ_SCOPE, VERIFICATION_SECONDS } from '../../../contract/ssf.ts';
import { isUuid } from '../../../crypto/ids.ts';
import type { Seal } from '../../../crypto/seal.ts';
import type { RealmSql } from '../../../db/realm-share.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { partyOfClient } from '../../../domain/agents.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { PresentedToken } from '../../../http/presented-token.ts';
import { endpointsOf } from '../../../http/realm-endpoints.ts';
import type { Enqueue } from '../../../jobs/retries.ts';
import { contextAtRest } from '../../../resource/at-rest.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import type { Tokens } from '../../configuration/issued-tokens/service.ts';
import { deliveredEvents, setClaims } from './claims.ts';
import { groupOf, PUSH_JOB } from './consumer.ts';
import type { SetSigner } from './signing.ts';
import * as store from './store.ts';

/** The most streams of a receiver, and the most tokens of one poll. */
const MOST_STREAMS = 10;
const MOST_POLLED = 100;
const SEEDING_MS = 300_000;
/** How long a poll waits for a token, how often it looks, and how many wait in this process. */
const WAIT_MS = 10_000;
const LOOK_MS = 1_000;
const MOST_WAITING = 50;

/** The receiver's part of a stream. */
type Supplied = Pick<StreamChange, 'delivery' | 'events_requested' | 'format' | 'description'>;

export interface StreamsDeps {
  sql: Sql;
  realmSql: RealmSql;
  transact: Transact;
  seal: Seal;
  tokens: Pick<Tokens, 'present'>;
  settings: { issuer(realm: string): Promise<string> };
  clients: { view(realm: string, clientId: string): Promise<ClientView | undefined> };
  signing: SetSigner;
  enqueue: Enqueue;
  baseUrl: string;
  now: () => Date;
  newId: () => string;
}

/** A receiver, by the access token of its client. */
export interface Receiver {
  realm: string;
  client: ClientView;
  row: store.ReceiverRow;
  by: By;
}

const notFound = () => new OAuthError('not_found', 'There is no such stream');

export function createStreams(deps: StreamsDeps) {
  const { sql, realmSql, transact, seal, tokens, settings, clients, signing, enqueue, baseUrl, now, newId } = deps;

  /** The number of polls that wait. */
  let pollers = 0;

  const happened = (
    type: 'SIGNAL_STREAM_CREATED' | 'SIGNAL_STREAM_UPDATED' | 'SIGNAL_STREAM_DELETED',
    { realm, client, by }: Receiver,
    streamId: string,
    data: Record<string, unknown> = {},
  ): DomainEvent => ({ type, realm, by, clientId: client.clientId, data: { streamId, ...data } });

  async function wire({ realm, row }: Pick<Receiver, 'realm' | 'row'>, stream: store.SavedStream): Promise<Stream> {
    const supported = row.events.map((signal) => uriOfSignal[signal]);
    return {
      stream_id: stream.id,
      iss: await settings.issuer(realm),
      aud: row.audience ?? row.client_id,
      delivery: {
        method: stream.method,
        endpoint_url: stream.endpoint_url ?? `${endpointsOf(baseUrl, realm).signals}/streams/${stream.id}/poll`,
      },
      events_supported: supported,
      events_requested: stream.events_requested ?? supported,
      events_delivered: deliveredEvents(row.events, stream.events_requested).map((signal) => uriOfSignal[signal]),
      format: stream.format,
      min_verification_interval: VERIFICATION_SECONDS,
      ...(stream.description !== null && { description: stream.description }),
    };
  }

  async function mustFind(on: Sql, { realm, row }: Receiver, id: string | undefined): Promise<store.StreamRow> {
    const stream = id !== undefined && isUuid(id) ? await store.streamOf(on, realm, row.id, id) : undefined;
    if (!stream) throw notFound();
    return stream;
  }

  /** A stream with the receiver's part. @param before what stays where the receiver says nothing */
  function changed(
    { realm, row }: Receiver,
    id: string,
    { delivery, events_requested, format, description }: Supplied,
    before?: store.StreamRow,
  ): store.SavedStream {
    const [usual] = row.formats.toSorted((a, b) => Number(b === 'iss_sub') - Number(a === 'iss_sub'));
    const wanted = format ?? before?.format ?? usual ?? 'iss_sub';
    if (!row.formats.includes(wanted))
      throw new OAuthError('invalid_request', `format: must be one of ${row.formats.join(', ')}`);
    const pushed = delivery ? deliveryMethods[delivery.method] === 'push' : (before?.pushed ?? false);
    const address = delivery ? delivery.endpoint_url : before?.endpoint_url;
    if (pushed && !address)
      throw new OAuthError('invalid_request', 'delivery.endpoint_url: is required to push tokens');
    const header = delivery?.authorization_header;
    const context = contextAtRest('signal-stream', { realm, id });
    // A header belongs to its address: it is never sent to another one.
    const kept =
      delivery && delivery.endpoint_url !== before?.endpoint_url ? null : (before?.authorization_header ?? null);
    return {
      id,
      receiver: row.id,
      method: delivery?.method ?? before?.method ?? '',
      pushed,
      endpoint_url: pushed ? (address ?? null) : null,
      authorization_header: !pushed ? null : header === undefined ? kept : seal.seal(header, context),
      events_requested: events_requested ?? before?.events_requested ?? null,
      format: wanted,
      description: description ?? before?.description ?? null,
    };
  }

  /** SSF 1.0 §8.1.1.3: what the transmitter supplies may be repeated, and must then be right. */
  function refuseOther(asked: StreamChange, present: Stream): void {
    for (const field of ['iss', 'events_supported', 'events_delivered', 'min_verification_interval'] as const) {
      const wanted = asked[field];
      if (wanted !== undefined && JSON.stringify(wanted) !== JSON.stringify(present[field]))
        throw new OAuthError('invalid_request', `${field}: is not the transmitter’s`);
    }
    const { aud } = asked;
    if (aud !== undefined && JSON.stringify([aud].flat()) !== JSON.stringify([present.aud]))
      throw new OAuthError('invalid_request', 'aud: can’t be changed');
  }

  /** Writes a token about the stream itself, and has it pushed. */
  async function tell(
    tx: Tx,
    { realm, row }: Pick<Receiver, 'realm' | 'row'>,
    stream: Pick<store.StreamRow, 'id' | 'pushed' | 'status'>,
    { event, payload }: { event: string; payload: Record<string, unknown> },
  ): Promise<void> {
    const id = newId();
    const subject = { format: 'opaque', id: stream.id };
    const claims = setClaims({
      iss: await settings.issuer(realm),
      aud: row.audience ?? row.client_id,
      jti: id,
      at: now(),
      subject,
      event,
      payload,
    });
    await store.insertSets(tx.sql, realm, [{ id, stream_id: stream.id, user_id: null, event, claims }], now());
    if (stream.pushed && stream.status === 'enabled')
      await enqueue(tx.sql, PUSH_JOB, [{ realm, streamId: stream.id, id }]);
  }

  /** Has the tokens pushed that wait in a stream. */
  async function resume(tx: Tx, realm: string, streamId: string): Promise<void> {
    const waiting = await store.waitingPushes(tx.sql, realm, streamId);
    if (waiting.length > 0)
      await enqueue(
        tx.sql,
        PUSH_JOB,
        waiting.map(({ id, attempt, user_id }) => ({ realm, streamId, id, attempt, group: groupOf(user_id) })),
      );
  }

  const shown = (row: store.ShownRow): SignalStream => ({
    id: row.id,
    method: row.pushed ? 'push' : 'poll',
    endpointUrl: row.endpoint_url,
    format: row.format,
    events: deliveredEvents(row.events, row.events_requested),
    status: row.status,
    statusReason: row.status_reason,
    description: row.description,
    createdAt: row.created_at.getTime(),
    waiting: row.waiting,
    failed: row.failed,
    lastDeliveredAt: row.last_delivered_at?.getTime() ?? null,
    lastError: row.last_error,
  });

  return {
    /** @throws OAuthError `invalid_token`, `insufficient_scope`, `access_denied` */
    async caller(
      realm: string,
      presented: PresentedToken | undefined,
      { ipAddress, reads }: { ipAddress: string; reads: boolean },
    ): Promise<Receiver> {
      const invalid = (reason: string) =>
        new OAuthError('invalid_token', 'The access token is not valid here', { reason });
      if (!presented) throw invalid('there is none');
      const claims = await tokens.present(realm, presented, { audience: await settings.issuer(realm) });
      if (!claims) throw invalid('it does not verify');
      const scopes = (claims.scope ?? '').split(' ');
      if (!scopes.includes(MANAGE_SCOPE) && !(reads && scopes.includes(READ_SCOPE)))
        throw new OAuthError('insufficient_scope', `This needs the scope ${MANAGE_SCOPE}`);
      if (claims.act !== undefined) throw invalid('it names an acting party');
      const client = await clients.view(realm, claims.client_id ?? '');
      if (!client) throw invalid('its client is gone');
      // Each user of a client without a secret has its tokens, and would read what the stream says of the others.
      if (client.authMethod === 'none')
        throw new OAuthError('access_denied', 'A client without a secret receives no signals');
      const row = await store.receiverOf(sql, realm, client.clientId);
      if (!row) throw new OAuthError('access_denied', 'The client is no receiver of signals here');
      return { realm, client, row, by: { actor: partyOfClient(client), ipAddress } };
    },

    async create(receiver: Receiver, input: StreamInput): Promise<Stream> {
      const { realm, row } = receiver;
      const stream = changed(receiver, newId(), { ...input, delivery: input.delivery ?? { method: POLL } });
      await transact(
        realm,
        async (tx) => {
          const streams = await store.lockReceiver(tx.sql, realm, row.id);
          if (streams >= MOST_STREAMS)
            throw new OAuthError('access_denied', `A receiver has at most ${MOST_STREAMS} streams`, { status: 409 });
          await store.insertStream(tx.sql, realm, stream, now());
          await store.seedPeople(tx.sql, realm, row);
          tx.record(
            happened('SIGNAL_STREAM_CREATED', receiver, stream.id, { method: stream.pushed ? 'push' : 'poll' }),
          );
        },
        { longestMs: SEEDING_MS },
      );
      return wire(receiver, stream);
    },

    list: async (receiver: Receiver): Promise<Stream[]> =>
      Promise.all(
        (await store.streamsOf(sql, receiver.realm, receiver.row.id)).map((stream) => wire(receiver, stream)),
      ),

    read: async (receiver: Receiver, id: string): Promise<Stream> => wire(receiver, await mustFind(sql, receiver, id)),

    /** @param whole what the request leaves out returns to its default */
    change: (receiver: Receiver, asked: StreamChange, { whole }: { whole: boolean }): Promise<Stream> =>
      transact(receiver.realm, async (tx) => {
        const before = await mustFind(tx.sql, receiver, asked.stream_id);
        refuseOther(asked, await wire(receiver, before));
        const stream = changed(receiver, before.id, asked, whole ? undefined : before);
        await store.updateStream(tx.sql, receiver.realm, stream);
        // Tokens that waited for a poll are pushed from now on.
        if (stream.pushed && !before.pushed && before.status === 'enabled') await resume(tx, receiver.realm, stream.id);
        tx.record(happened('SIGNAL_STREAM_UPDATED', receiver, stream.id));
        return wire(receiver, stream);
      }),

    remove: (receiver: Receiver, id: string | undefined): Promise<void> =>
      transact(receiver.realm, async (tx) => {
        const { id: found } = await mustFind(tx.sql, receiver, id);
        await store.deleteStream(tx.sql, receiver.realm, receiver.row.id, found);
        await store.forgetWithoutStreams(tx.sql, receiver.realm);
        tx.record(happened('SIGNAL_STREAM_DELETED', receiver, found));
      }),

    async status(receiver: Receiver, id: string | undefined) {
      const { id: stream_id, status, status_reason } = await mustFind(sql, receiver, id);
      return { stream_id, status, ...(status_reason !== null && { reason: status_reason }) };
    },

    setStatus: (
      receiver: Receiver,
      { stream_id: id, status, reason }: { stream_id: string; status: store.Status; reason?: string | undefined },
    ) =>
      transact(receiver.realm, async (tx) => {
        const { realm } = receiver;
        const before = await mustFind(tx.sql, receiver, id);
        await store.setStatus(tx.sql, realm, before.id, status, reason ?? null);
        if (status === 'disabled') await store.dropWaiting(tx.sql, realm, before.id);
        if (status === 'enabled' && before.status !== 'enabled' && before.pushed) await resume(tx, realm, before.id);
        if (status !== before.status && status !== 'disabled')
          await tell(
            tx,
            receiver,
            { ...before, status },
            {
              event: STREAM_UPDATED,
              payload: { status, ...(reason !== undefined && { reason }) },
            },
          );
        tx.record(happened('SIGNAL_STREAM_UPDATED', receiver, before.id, { status }));
        return { stream_id: before.id, status, ...(reason !== undefined && { reason }) };
      }),

    verify: (receiver: Receiver, id: string, state: string | undefined): Promise<void> =>
      transact(
        receiver.realm,
        async (tx) => {
          const stream = await mustFind(tx.sql, receiver, id);
          const since = new Date(now().getTime() - VERIFICATION_SECONDS * 1000);
          if (!(await store.beginVerification(tx.sql, receiver.realm, stream.id, now(), since)))
            throw new OAuthError('slow_down', `A stream is verified once in ${VERIFICATION_SECONDS} seconds`, {
              retryAfterSeconds: VERIFICATION_SECONDS,
            });
          if (stream.status === 'disabled') return;
          await tell(tx, receiver, stream, { event: VERIFICATION, payload: state === undefined ? {} : { state } });
        },
        { bookkeeping: true },
      ),

    /**
     * The waiting tokens of a poll stream. Those that are not acknowledged come again. Unless the receiver wants the answer at once, it
     * waits a while for a token (RFC 8936 §2.4). @param isGone whether the receiver has given up
     */
    async poll(
      receiver: Receiver,
      id: string,
      { maxEvents = MOST_POLLED, returnImmediately = false, ack = [], setErrs = {} }: PollInput,
      isGone: () => boolean,
    ) {
      const { realm, client } = receiver;
      const stream = await mustFind(sql, receiver, id);
      if (stream.pushed) throw new OAuthError('invalid_request', 'The tokens of this stream are pushed');
      const acknowledged = ack.filter(isUuid);
      const refused = Object.fromEntries(
        Object.entries(setErrs).flatMap(([jti, { err, description }]) =>
          isUuid(jti) ? [[jti, description === undefined ? err : `${err}: ${description}`]] : [],
        ),
      );
      if (acknowledged.length + Object.keys(refused).length > 0)
        await store.settleSets(realmSql(realm), realm, stream.id, { acknowledged, refused, at: now() });
      const limit = Math.min(maxEvents, MOST_POLLED);
      const look = async () => (stream.status === 'enabled' ? store.waitingSets(sql, realm, stream.id, limit + 1) : []);
      let waiting = await look();
      if (waiting.length === 0 && limit > 0 && !returnImmediately && pollers < MOST_WAITING) {
        pollers += 1;
        try {
          for (let waited = 0; waiting.length === 0 && waited < WAIT_MS && !isGone(); waited += LOOK_MS) {
            await sleep(LOOK_MS, undefined, { ref: false });
            waiting = await look();
          }
        } finally {
          pollers -= 1;
        }
      }
      const sets = await Promise.all(
        waiting.slice(0, limit).map(async (set) => [set.id, await signing.sign(realm, client, set.claims)] as const),
      );
      return { sets: Object.fromEntries(sets), moreAvailable: waiting.length > limit };
    },

    mustFind: (receiver: Receiver, id: string) => mustFind(sql, receiver, id),

    /** Streams as administrators see them. */
    async shown(realm: string, receiver: string, page: { after: string | undefined; limit: number }) {
      if (!(await store.receiverById(sql, realm, receiver)))
        throw new Problem('not-found', 'There is no such signal receiver');
      return (await store.shownStreams(sql, realm, receiver, page)).map(shown);
    },

    end: (by: By, realm: string, receiver: string, id: string): Promise<void> =>
      transact(realm, async (tx) => {
        const row = await store.receiverById(tx.sql, realm, receiver);
        if (!row || !(await store.deleteStream(tx.sql, realm, receiver, id)))
          throw new Problem('not-found', 'There is no such stream');
        await store.forgetWithoutStreams(tx.sql, realm);
        tx.record({ type: 'SIGNAL_STREAM_DELETED', realm, by, clientId: row.client_id, data: { streamId: id } });
      }),
  };
}
export type Streams = ReturnType<typeof createStreams>;
