// The jobs that synchronize SCIM targets, with their payloads. provision.ts does the work: most servers have no target
// and never load it.
import { z } from 'zod';
import { fragment, type Sql } from '../../../db/sql.ts';
import type { EventConsumer } from '../../../events/consumer.ts';

export const PROVISIONING_JOB = 'scim-provisioning';
const Changed = z.object({
  realm: z.string(),
  targetId: z.uuid(),
  users: z.array(z.uuid()).nullish(),
  groups: z.array(z.uuid()).nullish(),
  /** Every object may have changed. */
  all: z.boolean().nullish(),
  /** The target's address changed: objects sent so far went to another server. */
  moved: z.boolean().nullish(),
});
const OF_USERS = ['USER_CREATED', 'USER_UPDATED', 'USER_DELETED', 'USER_ERASED'];
const OF_GROUPS = ['GROUP_CREATED', 'GROUP_UPDATED', 'GROUP_DELETED'];
const OF_ALL = [
  'USERS_IMPORTED',
  'USER_PROFILE_UPDATED',
  'SCIM_TARGET_CREATED',
  'SCIM_TARGET_UPDATED',
  'SCIM_TARGET_RECONCILED',
];
const OF_TARGET = 'SCIM_TARGET_%';

/** A job for each target of a realm in which people or groups changed. */
export const provisioningConsumer: EventConsumer = {
  job: PROVISIONING_JOB,
  wanted: (realm) => fragment`exists (select from scim_target where realm_id = ${realm} and enabled)`,
  take: () => fragment`
    select jsonb_build_object('realm', h.realm_id, 'targetId', t.id,
      'users', jsonb_agg(distinct h.subject ->> 'id') filter (where h.type = any(${OF_USERS}::text[]) and t.users and h.subject ->> 'id' is not null),
      'groups', jsonb_agg(distinct h.subject ->> 'id') filter (where h.type = any(${OF_GROUPS}::text[]) and t.groups and h.subject ->> 'id' is not null),
      'all', bool_or(h.type = any(${OF_ALL}::text[])),
      'moved', bool_or(h.type = 'SCIM_TARGET_UPDATED' and h.data -> 'fields' ? 'url')) as payload
    from happened h join scim_target t on t.realm_id = h.realm_id and t.enabled
    where h.type = any(${[...OF_USERS, ...OF_GROUPS, ...OF_ALL]}::text[])
      and (h.type not like ${OF_TARGET} or h.subject ->> 'id' = t.id::text)
    group by h.realm_id, t.id`,
};

/** How long one run of a target may take. */
export const RUN_MS = 120_000;
const LOOK_SECONDS = 10;

export const provisioningTerms = {
  name: PROVISIONING_JOB,
  schema: Changed,
  // An exception here is a fault of this server, for example a lost database connection.
  maxAttempts: 500,
  expireSeconds: (2 * RUN_MS) / 1000,
  // Slow targets leave places for others.
  concurrency: 12,
  group: { of: ({ realm, targetId }: z.output<typeof Changed>) => `${realm}/${targetId}`, concurrency: 1 },
};

export const dueTerms = {
  name: 'scim-due',
  schema: z.object({}),
  maxAttempts: 1,
  expireSeconds: 60,
  concurrency: 1,
  everySeconds: LOOK_SECONDS,
};

/** Whether any realm has a target that could be due. */
export async function hasTargets(sql: Sql): Promise<boolean> {
  const [row] = await sql`select from scim_target where enabled limit 1`;
  return row !== undefined;
}
