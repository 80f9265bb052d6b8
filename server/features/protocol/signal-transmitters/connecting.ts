// Owns: the realm's own stream at a transmitter: creating it, keeping it up to date, deleting it.
// Does not own: what its tokens do (receiving.ts), fetching them (poll-job.ts).
// Implements: SSF 1.0 §8.1.1, as a receiver; decisions "Signal transmitter".
import { z } from 'zod';
import type { By } from '../../../contract/events.ts';
import { Problem } from '../../../contract/problem.ts';
import { reactionFields, type SignalConnection } from '../../../contract/signal-transmitters.ts';
import { POLL, PUSH, Signal, uriOfSignal } from '../../../contract/signals.ts';
import type { Seal } from '../../../crypto/seal.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import type { Outbound } from '../../../http/outbound.ts';
import { OutboundError } from '../../../http/outbound-connection.ts';
import { endpointsOf } from '../../../http/realm-endpoints.ts';
import { transmitterSecret, transmitterToken } from './secret.ts';
import * as store from './store.ts';
import { SetRefusal, type SetVerification } from './token.ts';

const LIMITS = { timeoutMs: 10_000, maxBytes: 256 * 1024 } as const;

const text = z
  .string()
  .min(1)
  .max(2048)
  .refine((s) => !s.includes('\0'));
const Created = z.object({
  stream_id: text,
  iss: text.optional(),
  aud: z.union([text, z.array(text).max(100)]).optional(),
  delivery: z.object({ endpoint_url: text.optional() }).optional(),
});
const PollUrl = z.url({ protocol: /^https$/ });
type Created = z.infer<typeof Created>;

export interface ConnectingDeps {
  sql: Sql;
  transact: Transact;
  seal: Seal;
  outbound: Pick<Outbound, 'fetch'>;
  verification: Pick<SetVerification, 'metadataOf'>;
  baseUrl: string;
  now: () => Date;
}

const shown = ({ stream_id, audience, poll_url, connected_at }: store.ConnectionRow): SignalConnection => ({
  streamId: stream_id,
  audience,
  pollUrl: poll_url,
  connectedAt: connected_at.getTime(),
});

export function createConnecting({ sql, transact, seal, outbound, verification, baseUrl, now }: ConnectingDeps) {
  const secretOf = transmitterSecret(seal);
  const tokenOf = transmitterToken(seal);

  async function mustFind(realm: string, id: string): Promise<store.TransmitterRow> {
    const row = await store.transmitterById(sql, realm, id);
    if (!row) throw new Problem('not-found', 'There is no such signal transmitter');
    return row;
  }

  /** Where streams are managed, and the request that does it. @throws Problem `wrong-state` */
  async function management(realm: string, transmitter: store.TransmitterRow) {
    const token = tokenOf(realm, transmitter);
    if (token === undefined) throw new Problem('wrong-state', 'The transmitter has no accessToken');
    const metadata = await verification.metadataOf(transmitter.issuer, { again: true }).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      throw new Problem('wrong-state', `The transmitter’s metadata can’t be had: ${why}`, { cause: error });
    });
    const { configuration_endpoint: endpoint } = metadata;
    if (endpoint === undefined)
      throw new Problem('wrong-state', 'The transmitter’s metadata names no configuration_endpoint');
    return async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', body: object | undefined, query = '') => {
      const answer = await outbound.fetch(`${endpoint}${query}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          accept: 'application/json',
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: Buffer.from(JSON.stringify(body)) }),
        ...LIMITS,
      });
      return { status: answer.status, body: answer.body.toString() };
    };
  }

  /** The stream as the realm wants it: the events to which there is a reaction, delivered as the transmitter is configured. */
  function wanted(realm: string, transmitter: store.TransmitterRow): object {
    const { reactions, delivery, name } = transmitter;
    const events = Signal.options.filter((signal) => (reactions[reactionFields[signal]] ?? 'ignore') !== 'ignore');
    const header = secretOf(realm, transmitter);
    const endpoint_url = `${endpointsOf(baseUrl, realm).signals}/events/${name}`;
    return {
      delivery:
        delivery === 'poll'
          ? { method: POLL }
          : { method: PUSH, endpoint_url, ...(header !== undefined && { authorization_header: header }) },
      events_requested: events.map((signal) => uriOfSignal[signal]),
      format: 'iss_sub',
      description: `Realmkeeper, realm ${realm}`,
    };
  }

  const refused = (status: number): Problem => new Problem('wrong-state', `The transmitter answered ${status}`);

  function createdIn({ status, body }: { status: number; body: string }, issuer: string): Created {
    if (status < 200 || status >= 300) throw refused(status);
    let created: Created;
    try {
      created = Created.parse(JSON.parse(body));
    } catch (error) {
      throw new Problem('wrong-state', 'The transmitter’s answer is no stream', { cause: error });
    }
    // SSF 1.0 §8.1.1.1: the issuer must be the one whose metadata named the endpoint
    if (created.iss !== undefined && created.iss !== issuer)
      throw new Problem('wrong-state', 'The transmitter’s stream is of another issuer');
    return created;
  }

  function pollUrlOf({ delivery }: Created): string | null {
    if (delivery?.endpoint_url === undefined) return null;
    const url = PollUrl.safeParse(delivery.endpoint_url).data;
    if (url === undefined)
      throw new Problem('wrong-state', 'The transmitter’s address for fetching tokens is no https address');
    return url;
  }

  /** Replaces the stream that is known, or the only one that the transmitter permits; else creates one. */
  async function put(realm: string, transmitter: store.TransmitterRow, known: string | undefined): Promise<Created> {
    const ask = await management(realm, transmitter);
    const stream = wanted(realm, transmitter);
    if (known !== undefined) {
      const answer = await ask('PUT', { stream_id: known, ...stream });
      if (answer.status !== 404) return createdIn(answer, transmitter.issuer);
    }
    const answer = await ask('POST', stream);
    // SSF 1.0 §8.1.1.1: the transmitter has a stream of ours already, and permits no other
    if (answer.status !== 409) return createdIn(answer, transmitter.issuer);
    const list = await ask('GET', undefined);
    const [first] = z
      .array(Created)
      .catch([])
      .parse(list.status === 200 ? JSON.parse(list.body) : []);
    if (!first) throw refused(answer.status);
    return createdIn(await ask('PUT', { stream_id: first.stream_id, ...stream }), transmitter.issuer);
  }

  const unreachable = (error: unknown): never => {
    if (!(error instanceof OutboundError || error instanceof SyntaxError)) throw error;
    throw new Problem('wrong-state', `The transmitter could not be asked: ${error.message}`, { cause: error });
  };

  return {
    async read(realm: string, id: string): Promise<SignalConnection> {
      await mustFind(realm, id);
      const row = await store.connectionOf(sql, realm, id);
      if (!row) throw new Problem('not-found', 'The realm has no stream there');
      return shown(row);
    },

    async connect(by: By, realm: string, id: string): Promise<SignalConnection> {
      const transmitter = await mustFind(realm, id);
      const known = await store.connectionOf(sql, realm, id);
      const created = await put(realm, transmitter, known?.stream_id).catch(unreachable);
      const row: store.ConnectionRow = {
        stream_id: created.stream_id,
        audience: [created.aud ?? []].flat()[0] ?? null,
        poll_url: transmitter.delivery === 'poll' ? pollUrlOf(created) : null,
        connected_at: now(),
      };
      await transact(realm, async (tx) => {
        await store.saveConnection(tx.sql, realm, id, row);
        tx.record({
          type: 'SIGNAL_TRANSMITTER_CONNECTED',
          realm,
          by,
          subject: { type: 'object', id, name: transmitter.name },
          data: { streamId: row.stream_id },
        });
      });
      return shown(row);
    },

    async disconnect(by: By, realm: string, id: string): Promise<void> {
      const transmitter = await mustFind(realm, id);
      const known = await store.connectionOf(sql, realm, id);
      if (!known) throw new Problem('not-found', 'The realm has no stream there');
      const isDeleted = await management(realm, transmitter)
        .then((ask) => ask('DELETE', undefined, `?${new URLSearchParams({ stream_id: known.stream_id })}`))
        .then(({ status }) => (status >= 200 && status < 300) || status === 404)
        .catch((error: unknown) => {
          if (error instanceof OutboundError || error instanceof Problem || error instanceof SetRefusal) return false;
          throw error;
        });
      await transact(realm, async (tx) => {
        await store.deleteConnection(tx.sql, realm, id);
        tx.record({
          type: 'SIGNAL_TRANSMITTER_DISCONNECTED',
          realm,
          by,
          subject: { type: 'object', id, name: transmitter.name },
          data: { streamId: known.stream_id, deletedThere: isDeleted },
        });
      });
    },
  };
}
export type Connecting = ReturnType<typeof createConnecting>;
