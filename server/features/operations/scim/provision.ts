// Owns: synchronizing SCIM targets with users and groups. One process at a time sends a due object's present state, in order.
// Does not own: the targets' configuration (features/configuration/scim-targets), the requests (provision-http.ts), the
// resources that are sent (provision-shape.ts).
// Implements: specification 4.10; decisions "SCIM target".
import { DAY_MS } from '../../../contract/durations.ts';
import { Problem } from '../../../contract/problem.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Outbound } from '../../../http/outbound.ts';
import { type Job, job } from '../../../jobs/job.ts';
import type { Enqueue } from '../../../jobs/retries.ts';
import { memberOperations, ObjectRefused, type Remote, remoteOf, TargetAway } from './provision-http.ts';
import { dueTerms, PROVISIONING_JOB, provisioningTerms, RUN_MS } from './provision-jobs.ts';
import { type Plan, plannedObjects } from './provision-plan.ts';
import * as store from './provision-store.ts';

const BATCH = 50;
const CLAIM_MS = 20 * 60_000;
/**
 * The delays between tries: 1 min, 2 min, … up to 6 h for a refused object; 5 s, … up to 10 min for an unreachable
 * target.
 */
const OBJECT_MS = { first: 60_000, most: 6 * 3_600_000 };
const TARGET_MS = { first: 5_000, most: 600_000 };
const after = ({ first, most }: typeof OBJECT_MS, failures: number): number =>
  Math.min(most, first * 2 ** Math.min(failures, 20));

export interface ProvisioningDeps {
  sql: Sql;
  outbound: Pick<Outbound, 'fetch'>;
  openSecret(sealed: Buffer, at: { realm: string; id: string }): string;
  enqueue: Enqueue;
  now: () => Date;
}

export function createScimProvisioning({ sql, outbound, openSecret, enqueue, now }: ProvisioningDeps) {
  type Done = Pick<store.Result, 'remote_id' | 'digest' | 'gone' | 'made'>;

  async function sendUser(remote: Remote, link: store.Link, plan: Plan | undefined): Promise<Done> {
    if (!plan) {
      if (link.remote_id !== null) await remote.remove('Users', link.remote_id);
      return { remote_id: null, digest: null, gone: true, made: false };
    }
    const { body, digest } = plan;
    if (link.remote_id !== null && link.digest === digest) return { ...link, gone: false, made: false };
    if (link.remote_id !== null && (await remote.replace(link.remote_id, body)))
      return { remote_id: link.remote_id, digest, gone: false, made: false };
    const { id, adopted } = await remote.create('Users', link.object_id, body);
    if (adopted) await remote.replace(id, body);
    return { remote_id: id, digest, gone: false, made: true };
  }

  async function sendGroup(
    realm: string,
    target: store.Target,
    remote: Remote,
    link: store.Link,
    plan: Plan | undefined,
  ): Promise<Done> {
    if (!plan) {
      if (link.remote_id !== null) await remote.remove('Groups', link.remote_id);
      await store.forgetMembers(sql, realm, target.id, [link.object_id]);
      return { remote_id: null, digest: null, gone: true, made: false };
    }
    const { body, digest } = plan;
    let id = link.remote_id;
    if (id !== null && link.digest !== digest) {
      const { displayName, externalId } = body;
      const there = await remote.patch(id, [{ op: 'replace', value: { displayName, externalId } }]);
      if (!there) id = null;
    }
    if (id === null) {
      await store.forgetMembers(sql, realm, target.id, [link.object_id]);
      id = (await remote.create('Groups', link.object_id, body)).id;
    }
    const steps = await store.memberSteps(sql, realm, target.id, [link.object_id]);
    for (const operations of memberOperations(steps))
      if (!(await remote.patch(id, operations))) throw new ObjectRefused('the group is gone there');
    if (steps.length > 0) await store.keepMembers(sql, realm, target.id, steps);
    return { remote_id: id, digest, gone: false, made: link.remote_id === null };
  }

  /** @throws TargetAway, after storing the results of the objects before */
  async function sendSome(
    realm: string,
    target: store.Target,
    { remote, until }: { remote: Remote; until(): boolean },
    links: readonly store.Link[],
  ): Promise<void> {
    const wanted = await plannedObjects(sql, realm, target, links);
    const pathOf = (link: store.Link) => wanted.get(link.object_id)?.name ?? '';
    // Groups ordered by path: a target may require the parent to exist first.
    const ordered = [...links].sort((a, b) =>
      a.kind === b.kind ? (pathOf(a) < pathOf(b) ? -1 : 1) : a.kind === 'user' ? -1 : 1,
    );
    const results: store.Result[] = [];
    let away: unknown;
    for (const link of ordered) {
      if (until()) break;
      const plan = wanted.get(link.object_id);
      try {
        const done = await (link.kind === 'user'
          ? sendUser(remote, link, plan)
          : sendGroup(realm, target, remote, link, plan));
        results.push({ ...link, ...done, attempts: 0, error: null, again: null });
      } catch (error) {
        if (!(error instanceof ObjectRefused)) {
          away = error;
          break;
        }
        const again = now().getTime() + after(OBJECT_MS, link.attempts);
        const failed = { attempts: link.attempts + 1, error: error.message, again, gone: false, made: false };
        results.push({ ...link, ...failed, digest: null });
      }
    }
    await store.finish(sql, realm, target, now(), results);
    const left = ordered.slice(results.length).map(({ kind, object_id }) => ({ kind, object_id }));
    if (left.length > 0) await store.release(sql, realm, target.id, left);
    if (away !== undefined) throw away;
  }

  async function run(realm: string, targetId: string, signal: AbortSignal): Promise<void> {
    const target = await store.findTarget(sql, realm, targetId);
    const started = now().getTime();
    if (!target?.enabled || (target.paused_until !== null && target.paused_until.getTime() > started)) return;
    const token = target.secret === null ? undefined : openSecret(target.secret, { realm, id: targetId });
    const until = () => signal.aborted || now().getTime() - started > RUN_MS;
    const by = { remote: remoteOf({ url: target.url, token, outbound }), until };
    const claim = () =>
      store.claim(sql, realm, targetId, { at: now(), until: new Date(now().getTime() + CLAIM_MS), limit: BATCH });
    let sent = false;
    try {
      for (let links = await claim(); links.length > 0; links = await claim()) {
        sent = true;
        // Users first: groups refer to them by the ids that the target assigns.
        const people = links.filter(({ kind }) => kind === 'user');
        await sendSome(realm, target, by, people.length > 0 ? people : links);
        if (people.length > 0 && people.length < links.length)
          await sendSome(
            realm,
            target,
            by,
            links.filter(({ kind }) => kind === 'group'),
          );
        if (until()) break;
      }
      if (sent) await store.note(sql, realm, targetId, { at: now(), error: null, pausedUntil: null });
    } catch (error) {
      // A Problem: the target's filter setting is invalid.
      if (!(error instanceof TargetAway || error instanceof Problem)) throw error;
      const asked = error instanceof TargetAway ? error.retryAfterMs : 0;
      const pause = Math.max(asked, after(TARGET_MS, target.failures));
      const at = now();
      await store.note(sql, realm, targetId, { at, error: error.message, pausedUntil: new Date(at.getTime() + pause) });
    }
  }

  const jobs: Job[] = [
    job({
      ...provisioningTerms,
      async run({ realm, targetId, users, groups, all, moved }, { signal }) {
        if (!(await store.findTarget(sql, realm, targetId))) return;
        if (moved) await store.forgetLinks(sql, realm, targetId);
        if (all) await store.markAll(sql, realm, targetId, now(), { forget: false });
        else if (users || groups)
          await store.markDue(sql, realm, targetId, now(), { users: users ?? [], groups: groups ?? [] });
        await run(realm, targetId, signal);
      },
    }),
    job({
      ...dueTerms,
      async run() {
        const due = await store.dueTargets(sql, now(), new Date(now().getTime() - DAY_MS));
        const payloads = due.map(({ realm_id, id, stale }) => ({
          realm: realm_id,
          targetId: id,
          ...(stale && { all: true }),
        }));
        if (payloads.length > 0) await enqueue(sql, PROVISIONING_JOB, payloads);
      },
    }),
  ];
  return { jobs };
}
export type ScimProvisioning = ReturnType<typeof createScimProvisioning>;
