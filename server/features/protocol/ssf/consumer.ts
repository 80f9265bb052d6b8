// Takes events for Shared Signals in their own transaction: those that become tokens, and the first use of a receiver's client by a
// user. tokens-job.ts makes the tokens. Decisions "Signal receiver".
import { z } from 'zod';
import { fragment } from '../../../db/sql.ts';
import type { EventConsumer } from '../../../events/consumer.ts';

const SOURCES_JOB = 'signal-sources';
export const PUSH_JOB = 'signal-push';

const Realm = z.object({ realm: z.string() });
/** One at a time in a realm, so that changes of a user are told in their order. */
export const sourcesTerms = {
  name: SOURCES_JOB,
  schema: Realm,
  // An exception here is a fault of this server, for example a lost database connection. No event may be lost by it.
  maxAttempts: 500,
  expireSeconds: 60,
  concurrency: 4,
  group: { of: ({ realm }: z.output<typeof Realm>) => realm, concurrency: 1 },
};

const PushedSet = z.object({
  realm: z.string(),
  streamId: z.uuid(),
  id: z.uuid(),
  /** The number of this try. */
  attempt: z.int().default(1),
  group: z.int().default(0),
});
export type PushedSet = z.input<typeof PushedSet>;
const GROUPS = 4;
/** The tokens of a stream are pushed in groups, one at a time in each, so that those about one user arrive in their order. */
export const groupOf = (userId: string | null): number =>
  userId === null ? 0 : Number.parseInt(userId.slice(-4), 16) % GROUPS;

export const pushTerms = {
  name: PUSH_JOB,
  schema: PushedSet,
  maxAttempts: 500,
  // Soon after a push's timeout, so that a killed process's tokens are sent again.
  expireSeconds: 15,
  concurrency: 20,
  group: {
    of: ({ realm, streamId, group }: z.output<typeof PushedSet>) => `${realm}/${streamId}/${group}`,
    concurrency: 1,
  },
};

const OF_TOKENS = [
  'SESSION_ENDED',
  'LOGIN_SUCCESS',
  'PASSWORD_CHANGED',
  'CREDENTIAL_CREATED',
  'CREDENTIAL_DELETED',
  'SIGN_IN_REPORTED',
  'USER_CREATED',
  'USER_UPDATED',
  'USER_DELETED',
  'USER_ERASED',
  'USERS_IMPORTED',
  'SIGNAL_RECEIVER_UPDATED',
];
/** Sign-ins without a raised level of assurance, and changes by the system to no user, have nothing to tell. */
const tells = fragment`h.type = any(${OF_TOKENS}::text[]) and (h.type <> 'LOGIN_SUCCESS' or h.data ? 'previousLevel')`;

const wanted: EventConsumer['wanted'] = (realm) =>
  fragment`exists (select from signal_stream where realm_id = ${realm})`;

export const signalConsumer: EventConsumer = {
  job: SOURCES_JOB,
  wanted,
  take: (occurredAt) => fragment`
    insert into signal_source (realm_id, id, type, occurred_at, actor, subject, data)
    select h.realm_id, h.id, h.type, ${occurredAt}, h.actor, h.subject, h.data from happened h
    where ${tells} and exists (select from signal_stream s where s.realm_id = h.realm_id)
    returning jsonb_build_object('realm', realm_id) as payload`,
};

/** A row for each user whose first token of a receiver's client this is; later ones cost a look-up. */
export const signalUseConsumer: EventConsumer = {
  job: SOURCES_JOB,
  wanted,
  take: () => fragment`
    insert into signal_person as p (realm_id, user_id, email, subject, enabled, receivers)
    select u.realm_id, u.id, u.email, u.subject, u.enabled, array_agg(distinct r.id)
    from happened h join signal_receiver r on r.realm_id = h.realm_id and r.client_id = h.client_id
      join realm_user u on u.realm_id = h.realm_id
        and u.id = case when h.subject ->> 'type' = 'user' then (h.subject ->> 'id')::uuid end
    where h.type in ('CODE_ISSUED', 'TOKEN_ISSUED', 'TOKEN_REFRESHED') and not exists (
      select from signal_person k where k.realm_id = u.realm_id and k.user_id = u.id and k.receivers @> array[r.id])
    group by u.realm_id, u.id
    on conflict (realm_id, user_id) do update
      set receivers = array(select distinct unnest(p.receivers || excluded.receivers))
      where not p.receivers @> excluded.receivers
    returning jsonb_build_object('realm', realm_id) as payload`,
};
