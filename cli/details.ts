// The parts of `describe` beside an object's own fields: its child objects and its recent events. A part that the caller may
// not read is reported as such, and the rest is shown.
import { getClientAdminRoles, getUserAdminRoles } from '../server/contract/admin-access.ts';
import { allRows, ServerProblem } from '../server/contract/client.ts';
import { ALL_CONFIGURATION } from '../server/contract/declared-only.ts';
import type { Execution } from '../server/contract/flows.ts';
import { listKeys } from '../server/contract/keys.ts';
import { getAdoption, getEndpoints, getRealm, getRealmHealth } from '../server/contract/realms.ts';
import { listSessions } from '../server/contract/sessions.ts';
import { getSettings, notInEffect } from '../server/contract/settings.ts';
import { listManagers } from '../server/contract/transfer.ts';
import { getLockout, type Lockout } from '../server/contract/user-access.ts';
import { listCredentials } from '../server/contract/users.ts';
import { listDeliveries } from '../server/contract/webhooks.ts';
import { party, time } from './cells.ts';
import { ownsText } from './configuration-kinds.ts';
import type { Found, Kind, Scope } from './kinds.ts';
import { newestEvents } from './newest-events.ts';
import { whyOf } from './run-time-kinds.ts';

/** Parts in display order; in JSON the keys are names. */
export type Details = Record<string, unknown>;

const LATELY = 10;
/** Rare events of a large log are searched for this often, a second each. */
const SEARCHES = 5;
/** As the API's filters take names. */
const LONGEST_NAME = 255;

export async function detailsOf(kind: Kind, scope: Scope, found: Found): Promise<Details> {
  const details: Details = {};
  for (const [title, ask] of Object.entries(asked(kind, scope, found))) {
    const answer = await allowed(ask);
    if (answer !== undefined) details[title] = answer;
  }
  return details;
}

/** Reads a part that the caller may lack permission for (403: `not permitted`), or that doesn't exist (404: undefined). */
async function allowed<T>(work: () => Promise<T>): Promise<T | 'not permitted' | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ServerProblem && error.status === 403) return 'not permitted';
    if (error instanceof ServerProblem && error.status === 404) return undefined;
    throw error;
  }
}

const field = (found: Found, name: string): string => String(Reflect.get(found.value, name) ?? '');

function asked(kind: Kind, scope: Scope, found: Found): Record<string, () => Promise<unknown>> {
  const { connection, signal } = scope;
  const { client } = connection;
  const realm = kind.inRealm ? scope.realm : found.name;
  const params = { realm, id: field(found, 'id') };
  const ofUser = { realm, userId: field(found, 'id') };
  const few = { limit: LATELY };
  const events = () => eventsOn(scope, realm, kind, found);
  switch (kind.plural) {
    case 'realms':
      return {
        settings: async () => (await client.call(getSettings, { params: { realm }, signal })).body,
        declaredOnly: async () => {
          const { body } = await client.call(getRealm, { params: { realm }, signal });
          return body?.declaredOnly.map((section) => (section === ALL_CONFIGURATION ? 'all configuration' : section));
        },
        settingsNotInEffectYet: async () => [...notInEffect],
        endpoints: async () => (await client.call(getEndpoints, { params: { realm }, signal })).body,
        health: async () => (await client.call(getRealmHealth, { params: { realm }, signal })).body,
        keys: async () =>
          (await client.call(listKeys, { params: { realm }, signal })).body?.map(
            (key) => `${key.keyId} ${key.status} since ${time(key.createdAt)}`,
          ),
        managers: async () => {
          const found = new Map<string, Parameters<typeof ownsText>[0] & { lastAppliedAt: number }>();
          for await (const m of allRows(client, listManagers, { params: { realm }, signal })) {
            // one that owns much is on several pages
            const owns = m.owns.length + (found.get(m.manager)?.owns ?? 0);
            if (!found.has(m.manager) && found.size === LATELY) break;
            found.set(m.manager, { ...m, owns });
          }
          return [...found].map(([name, m]) => `${name} owns ${ownsText(m)}, last applied ${time(m.lastAppliedAt)}`);
        },
        adoption: async () => (await client.call(getAdoption, { params: { realm }, signal })).body,
        events,
      };
    case 'clients':
      return {
        adminRoles: async () => (await client.call(getClientAdminRoles, { params, signal })).body?.grants,
        events,
      };
    case 'users':
      return {
        lock: async () => lockText((await client.call(getLockout, { params: ofUser, signal })).body),
        credentials: async () => (await client.call(listCredentials, { params: ofUser, signal })).body,
        adminRoles: async () => (await client.call(getUserAdminRoles, { params: ofUser, signal })).body?.grants,
        sessions: async () =>
          (
            await client.call(listSessions, {
              params: { realm },
              query: { ...few, userId: field(found, 'id') },
              signal,
            })
          ).body?.map(
            (s) =>
              `${s.id} from ${s.ipAddress ?? 'somewhere'}, last seen ${time(s.lastSeenAt)}${s.impersonator === null ? '' : `, impersonated by ${s.impersonator}`}`,
          ),
        events,
      };
    case 'webhooks':
      return {
        deliveries: async () =>
          (await client.call(listDeliveries, { params, query: few, signal })).body?.map(
            (d) => `${time(d.createdAt)} ${d.eventType} ${d.status} after ${d.attempts} tries${answer(d)}`,
          ),
        events,
      };
    default:
      return kind.plural === 'events' ? {} : { events };
  }
}

/** `locked until 2026-11-21T13:34:05Z after 5 failures, the last at …` */
function lockText(lockout: Lockout | undefined): string {
  if (!lockout || lockout.failures + Number(lockout.locked) === 0) return 'not locked, no failed sign-ins';
  const { locked, failures, lastFailureAt, lockedUntil } = lockout;
  const counted = `${failures} failed ${failures === 1 ? 'sign-in' : 'sign-ins'}, the last at ${time(lastFailureAt)}`;
  return locked ? `locked until ${time(lockedUntil)}: ${counted}` : `not locked: ${counted}`;
}

const answer = ({ error, responseStatus }: { error: string | null; responseStatus: number | null }): string =>
  error !== null ? `: ${error}` : responseStatus !== null ? `: ${responseStatus}` : '';

/** Which events are about the object, by the filters of the API: each finds some of them. For a realm they are all of its events. */
function filtersFor(kind: Kind, found: Found): object[] {
  const id = field(found, 'id');
  if (kind.plural === 'realms') return [{}];
  if (kind.plural === 'users') return [{ userId: id }];
  const names = [...new Set([found.name, id])].filter((name) => name !== '' && name.length <= LONGEST_NAME);
  return [
    ...names.map((subject) => ({ subject })),
    ...(kind.plural === 'clients' ? [{ clientId: found.name }, { actor: found.name }] : []),
  ];
}

/** The latest events about the object. */
async function eventsOn(scope: Scope, realm: string, kind: Kind, found: Found): Promise<unknown> {
  const limits = { limit: LATELY, searches: SEARCHES };
  const lists = await Promise.all(
    filtersFor(kind, found).map((filter) => newestEvents({ ...scope, realm }, filter, limits)),
  );
  const its = new Map(lists.flat().map((event) => [event.id, event]));
  const newest = [...its.values()].sort((one, other) => other.occurredAt - one.occurredAt).slice(0, LATELY);
  return newest.map((event) => {
    const why = whyOf(event);
    const by = party(event.actor) || 'nobody';
    return `${time(event.occurredAt)} ${event.type} ${event.outcome} by ${by}${why === '' ? '' : `: ${why}`}`;
  });
}

/** A flow as a tree, one step per line. */
export function flowTree(executions: readonly Execution[], parent: string | null = null, depth = 0): string[] {
  return executions
    .filter(({ parentId }) => parentId === parent)
    .sort((a, b) => a.priority - b.priority)
    .flatMap((execution) => {
      const { authenticatorId, name, requirement, config, executionId } = execution;
      const settings = Object.keys(config).length > 0 ? ` ${JSON.stringify(config)}` : '';
      const line = `${'  '.repeat(depth)}${requirement} ${authenticatorId ?? `[${name ?? 'group'}]`}${settings}`;
      return [line, ...flowTree(executions, executionId, depth + 1)];
    });
}
