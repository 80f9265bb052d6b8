// Owns: making security event tokens of events: for which streams, about which user, by which name.
// Does not own: what an event means (notes.ts), the contents (claims.ts), delivery (push-job.ts, service.ts).
// Implements: SSF 1.0 §4, §8.1; CAEP 1.0; RISC 1.0; decisions "Signal receiver".
import { bySystem } from '../../../contract/events.ts';
import { isProvisioning, uriOfSignal } from '../../../contract/signals.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { personOf, readPersonRow } from '../../../domain/person.ts';
import type { Subjects } from '../../../domain/subjects.ts';
import { type Job, job } from '../../../jobs/job.ts';
import type { Enqueue } from '../../../jobs/retries.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import { changedClaims, deliveredEvents, payloadOf, type SubjectId, setClaims, subjectIn } from './claims.ts';
import { groupOf, PUSH_JOB, sourcesTerms } from './consumer.ts';
import { changesOf, type Note, notesOf, Source } from './notes.ts';
import * as reading from './sources-store.ts';
import { insertSets, type NewSet, seedPeople } from './store.ts';

/** The most events, and the most changed people of an import, in one transaction. */
const BATCH = 100;
const MOST_CHANGED = 500;
const SEEDING_MS = 300_000;
/** Of a deleted user nothing else is told. */
const OF_DELETION: readonly string[] = ['account-purged', 'scim-delete'];

export interface TokensJobDeps {
  sql: Sql;
  transact: Transact;
  settings: { issuer(realm: string): Promise<string> };
  clients: { view(realm: string, clientId: string): Promise<ClientView | undefined> };
  subjects: Pick<Subjects, 'of'>;
  enqueue: Enqueue;
  now: () => Date;
  newId: () => string;
}

type People = ReadonlyMap<string, reading.KnownPerson>;

export function tokensJob(deps: TokensJobDeps): Job {
  const { transact, settings, clients, subjects, enqueue, now, newId } = deps;

  /** Whether the receiver may be told of the user, and wants to be. */
  function isAbout(
    stream: reading.LiveStream,
    { user_id: id, before }: reading.KnownPerson,
    chosen: ReadonlyMap<string, boolean>,
  ): boolean {
    const mayKnow = stream.subjects === 'all' || (before?.receivers.includes(stream.receiver) ?? false);
    return mayKnow && (chosen.get(`${stream.id} ${id}`) ?? stream.start_with === 'all');
  }

  /**
   * A receiver learns of a session only if its client has it. By a name that is the user's alone it learns of the end of all sessions;
   * a session that began after the end doesn't count, so that a new sign-in hides none.
   */
  function isTold(
    stream: reading.LiveStream,
    { session, at, signal }: Note,
    { live, after }: reading.KnownPerson,
  ): boolean {
    if (!after) return OF_DELETION.includes(signal);
    if (!session) return true;
    if (stream.subjects === 'used' && !session.clients.includes(stream.client_id)) return false;
    if (stream.format === 'complex') return true;
    const goOn = live.filter(({ since }) => since < at.getTime());
    return stream.subjects === 'all' ? goOn.length === 0 : !goOn.some(({ client }) => client === stream.client_id);
  }

  async function subjectFor(
    realm: string,
    iss: string,
    stream: reading.LiveStream,
    client: ClientView,
    note: Note,
    { before, after }: reading.KnownPerson,
  ): Promise<SubjectId | undefined> {
    const email = (note.signal === 'identifier-changed' ? before : (after ?? before))?.email ?? null;
    const subject = (after ?? before)?.subject ?? null;
    const sub = await subjects.of(realm, client, { id: note.userId, subject });
    const named = { iss, sub: sub?.sub, id: note.userId, email, sessionId: note.session?.id };
    if (isProvisioning(note.signal)) return stream.formats.includes('scim') ? subjectIn('scim', named) : undefined;
    // RISC 1.0 §2.5: the subject is the old address, and only a receiver that may have addresses is told of it.
    if (note.signal === 'identifier-changed')
      return stream.formats.includes('email') ? subjectIn('email', named) : undefined;
    return subjectIn(stream.format, named);
  }

  /** The event's fields for this client; undefined: it gets none of the changed claims. */
  async function payloadFor(tx: Tx, realm: string, client: ClientView, note: Note) {
    if (!note.fields) return payloadOf(note);
    const row = await readPersonRow(tx.sql, realm, note.userId);
    if (!row) return undefined;
    const consented = client.consentRequired
      ? await reading.consentedScopes(tx.sql, realm, { userId: note.userId, client: client.id })
      : undefined;
    const scopes = consented
      ? [...client.defaultScopes, ...client.optionalScopes].filter(({ name }) => consented.includes(name))
      : client.defaultScopes;
    const claims = changedClaims(client, scopes, personOf(row), note.fields);
    return claims && { ...payloadOf(note), claims };
  }

  async function setsOf(tx: Tx, realm: string, notes: readonly Note[], people: People) {
    const streams = await reading.liveStreams(tx.sql, realm);
    const iss = await settings.issuer(realm);
    const chosen = new Map(
      (await reading.chosenSubjects(tx.sql, realm, [...people.keys()])).map(
        ({ stream_id, user_id, added }) => [`${stream_id} ${user_id}`, added] as const,
      ),
    );
    const sets: (NewSet & { source: string; stream: reading.LiveStream })[] = [];
    for (const stream of streams) {
      const client = await clients.view(realm, stream.client_id);
      if (!client?.enabled) continue;
      const events = new Set(deliveredEvents(stream.events, stream.events_requested));
      for (const note of notes) {
        const person = people.get(note.userId);
        if (!person || !events.has(note.signal)) continue;
        if (!isAbout(stream, person, chosen) || !isTold(stream, note, person)) continue;
        const subject = await subjectFor(realm, iss, stream, client, note, person);
        const payload = subject && (await payloadFor(tx, realm, client, note));
        if (!subject || !payload) continue;
        const id = newId();
        const claims = setClaims({
          iss,
          aud: stream.audience ?? stream.client_id,
          jti: id,
          at: now(),
          subject,
          event: uriOfSignal[note.signal],
          payload,
          txn: note.source,
          subjectInEvents: stream.subject_in_events,
        });
        sets.push({
          id,
          stream_id: stream.id,
          user_id: note.userId,
          event: note.signal,
          claims,
          source: note.source,
          stream,
        });
      }
    }
    return sets;
  }

  /** The users whom the sources are about: by id, and after an import or an erasure, which name none, all who differ. */
  async function usersOf(tx: Tx, realm: string, sources: readonly Source[]) {
    const named = sources.flatMap(({ subject }) =>
      subject?.type === 'user' && subject.id !== null ? [subject.id] : [],
    );
    const imported = sources.find(({ type }) => type === 'USERS_IMPORTED' || type === 'USER_ERASED');
    const changed = imported ? await reading.changedPeople(tx.sql, realm, MOST_CHANGED) : [];
    return { ids: [...new Set([...named, ...changed])], imported, isMore: changed.length === MOST_CHANGED };
  }

  /** @returns whether there may be more */
  const some = (realm: string): Promise<boolean> =>
    transact(
      realm,
      async (tx) => {
        const sources = (await reading.takeSources(tx.sql, realm, BATCH)).map((row) => Source.parse(row));
        if (sources.length === 0) return false;
        const receivers = sources.flatMap(({ type, subject }) =>
          type === 'SIGNAL_RECEIVER_UPDATED' && subject?.id ? [subject.id] : [],
        );
        for (const receiver of await reading.receiversWithStreams(tx.sql, realm, receivers))
          await seedPeople(tx.sql, realm, receiver);
        const { ids, imported, isMore } = await usersOf(tx, realm, sources);
        const known = await reading.knownPeople(tx.sql, realm, ids, now());
        const people = new Map(known.map((person) => [person.user_id, person]));
        const namespace = await settings.issuer(realm);
        const last = new Map(
          sources.flatMap((source) => (source.subject?.id ? [[source.subject.id, source] as const] : [])),
        );
        const notes = [
          ...sources.flatMap((source) => notesOf(source, { namespace })),
          ...known.flatMap(({ user_id: id, before, after }) => {
            const source = last.get(id) ?? imported;
            return source ? changesOf(source, id, { before: before ?? undefined, after: after ?? undefined }) : [];
          }),
        ];
        const sets = await setsOf(tx, realm, notes, people);
        if (sets.length > 0)
          await insertSets(
            tx.sql,
            realm,
            sets.map(({ stream: _, source: __, ...set }) => set),
            now(),
          );
        await reading.keepPeople(tx.sql, realm, ids);
        await reading.forgetPeople(
          tx.sql,
          realm,
          known.flatMap(({ user_id, after }) => (after ? [] : [user_id])),
        );
        const done = sources.filter((source) => !(isMore && source === imported));
        await reading.deleteSources(
          tx.sql,
          realm,
          done.map(({ id }) => id),
        );
        const pushed = sets.filter(({ stream }) => stream.pushed && stream.status === 'enabled');
        if (pushed.length > 0)
          await enqueue(
            tx.sql,
            PUSH_JOB,
            pushed.map(({ id, stream_id: streamId, user_id }) => ({ realm, streamId, id, group: groupOf(user_id) })),
          );
        for (const [userId, about] of Map.groupBy(sets, ({ user_id }) => user_id))
          tx.record({
            type: 'SIGNALS_SENT',
            realm,
            by: bySystem,
            // An erased user is in no event any more.
            subject: people.get(userId ?? '')?.after ? { type: 'user', id: userId, name: null } : null,
            data: {
              events: [...new Set(about.map(({ event }) => event))],
              receivers: [...new Set(about.map(({ stream }) => stream.client_id))],
            },
          });
        return true;
      },
      { bookkeeping: true, longestMs: SEEDING_MS },
    );

  return job({
    ...sourcesTerms,
    async run({ realm }, { signal }) {
      while (!signal.aborted && (await some(realm))) {
        // the next batch
      }
    },
  });
}
