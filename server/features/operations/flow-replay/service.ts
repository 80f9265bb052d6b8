// Owns: the replay of past sign-ins against an edited flow: which events, which situation each was, and what differs. It only reads.
// Does not own: the order of steps (sign-in/engine.ts, sign-in/path.ts), what a user has for a step (sign-in-report/steps.ts).
// Implements: decisions "Sign-in report".
import { z } from 'zod';
import { DAY_MS } from '../../../contract/durations.ts';
import {
  type FlowReplay,
  LONGEST_REPLAY_DAYS,
  type ReplayedEvents,
  type ReplayInput,
  USUAL_REPLAY_DAYS,
} from '../../../contract/flow-replay.ts';
import { Problem } from '../../../contract/problem.ts';
import { RiskReason } from '../../../contract/risk.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Factors } from '../../../domain/factors.ts';
import { type Person, personOf } from '../../../domain/person.ts';
import type { Finding } from '../../../domain/risk.ts';
import { standingOf } from '../../../domain/standing.ts';
import { yieldLoop } from '../../../resource/write.ts';
import { createSemaphore } from '../../../schedule/semaphore.ts';
import type { AuthenticatorRecord } from '../../authentication/authenticators/authenticator.ts';
import type { RiskService } from '../../authentication/risk/service.ts';
import { createJudge } from '../../authentication/sign-in/judge.ts';
import { type Path, pathOf } from '../../authentication/sign-in/path.ts';
import type { Flows } from '../../configuration/flows/service.ts';
import type { TreeNode } from '../../configuration/flows/tree.ts';
import { createProbes } from '../sign-in-report/probes.ts';
import { createSteps, type Holder } from '../sign-in-report/steps.ts';
import { createCompare, type Difference } from './compare.ts';
import * as store from './store.ts';
import { createReplayTally } from './tally.ts';

export interface FlowReplayDeps {
  sql: Sql;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  flows: Pick<Flows, 'tree' | 'unsaved'>;
  registry: readonly AuthenticatorRecord[];
  factors: Factors;
  risk: Pick<RiskService, 'judge'>;
  sends(realm: string, channel: 'EMAIL' | 'SMS'): Promise<boolean>;
  now: () => Date;
}

interface Candidate extends Holder {
  id: string;
  username: string;
  person: Person | undefined;
}
type Tree = readonly TreeNode[];

/** A statement reads so many users at once. */
const BATCH = 100;
/** The event loop runs after so many milliseconds of judging. */
const SLICE_MS = 10;
/** A replay judges no longer than that, at a few milliseconds for a sign-in of the largest trees. */
const MOST_MS = 5_000;
/** Of all realms. */
const MOST_AT_ONCE = 2;
/** Of a realm, with the running one. */
const MOST_WAITING = 3;
const RETRY_SECONDS = 10;
/** The reasons of failures that a flow, or the risk policy, decided. */
const DECIDED = new Set(['risk', 'no-second-factor', 'exhausted', 'nothing-to-do']);
const UUID = z.uuid();
const StoredRisk = z.object({ findings: z.array(z.object({ reason: RiskReason, points: z.number() })) });

const ASSUMPTIONS = [
  'Users count with the credentials, groups, roles, attributes and required actions that they have now.',
  'The event does not name the flow that the sign-in took: the flow that is bound now counts as the present one.',
  'The event does not hold the level of assurance that the application asked for: none is taken.',
  'The event does not hold proofs of an earlier session: each sign-in is taken as one from the start.',
  'The risk is that of the event’s findings by the present policy; without findings no risk is taken.',
  'The event says that a browser was new only where the risk policy was on: otherwise the browser is taken as known.',
  'Locks, and the limits of an address, do not count.',
];

const missing = (what: string) => new Problem('not-found', `There is no such ${what}`);
const wrong = (message: string) =>
  new Problem('invalid-request', `from: ${message}`, { errors: [{ path: 'from', message }] });

function periodOf({ from, to }: Pick<ReplayInput, 'from' | 'to'>, at: Date): { from: Date; to: Date } {
  const end = to ?? at.getTime();
  const begin = from ?? end - USUAL_REPLAY_DAYS * DAY_MS;
  if (begin >= end) throw wrong('must be before `to`');
  if (end - begin > LONGEST_REPLAY_DAYS * DAY_MS) throw wrong(`at most ${LONGEST_REPLAY_DAYS} days before \`to\``);
  return { from: new Date(begin), to: new Date(end) };
}

/** An event of an older server may lack the risk, or have another form of it. */
const findingsOf = (risk: unknown): Finding[] | undefined => StoredRisk.safeParse(risk).data?.findings;

export function createFlowReplays(deps: FlowReplayDeps) {
  const { sql, settings, flows, registry, factors, risk, sends, now } = deps;
  const judge = createJudge(deps);
  const { ability, nameOf, endWords } = createSteps(registry);
  const compare = createCompare({ nameOf, endWords });
  const refuseProbes = createProbes({ sql, registry });
  /** A replay takes seconds of the processor at worst, so those of a realm run one after the other. */
  const inTurn = createSemaphore({ perKey: 1, inAll: MOST_AT_ONCE });
  const waiting = new Map<string, number>();
  const aboutUsers = new Set(
    registry.flatMap((entry) => (entry.category === 'CONDITION' && entry.needs === 'person' ? [entry.id] : [])),
  );
  const looksAtUsers = (tree: Tree): boolean =>
    tree.some(({ authenticatorId, children }) => aboutUsers.has(authenticatorId ?? '') || looksAtUsers(children));

  async function sampleOf(
    realm: string,
    type: 'LOGIN_SUCCESS' | 'LOGIN_FAILURE',
    { limit, ...period }: { from: Date; to: Date; limit: number },
  ): Promise<{ rows: store.SignInRow[]; told: ReplayedEvents }> {
    const found = await store.signIns(sql, realm, type, { ...period, limit: limit + 1 });
    const rows = found.slice(0, limit);
    const oldestAt = rows.at(-1)?.at.getTime() ?? null;
    return { rows, told: { read: rows.length, sampled: found.length > limit, oldestAt } };
  }

  /** The users with these ids, by id. */
  async function usersOf(realm: string, ids: readonly string[], withPerson: boolean): Promise<Map<string, Candidate>> {
    const reached = { EMAIL: await sends(realm, 'EMAIL'), SMS: await sends(realm, 'SMS') };
    const found = new Map<string, Candidate>();
    for (let at = 0; at < ids.length; at += BATCH) {
      const batch = ids.slice(at, at + BATCH);
      const persons = withPerson ? await store.persons(sql, realm, batch) : [];
      const personById = new Map(persons.map((row) => [row.user_id, personOf(row)]));
      for (const row of await store.users(sql, realm, batch)) {
        const standing = standingOf(row);
        const { EMAIL, SMS } = standing.reach;
        found.set(row.id, {
          id: row.id,
          username: row.username,
          standing: { ...standing, reach: { EMAIL: reached.EMAIL ? EMAIL : null, SMS: reached.SMS ? SMS : null } },
          providers: row.providers,
          reported: row.reported,
          keeper: row.keeper ?? undefined,
          person: personById.get(row.id),
        });
      }
    }
    return found;
  }

  /** The steps that a tree asks for in the situation of an event. */
  function pathBy(
    tree: Tree,
    policy: RealmSettingsDto,
    user: Candidate,
    { client_id, ip_address, risk: stored }: store.SignInRow,
  ): Path {
    const findings = findingsOf(stored);
    return pathOf(
      { judge, factors, registry },
      { tree, settings: policy, requiredLevel: 0 },
      {
        person: user.standing,
        able: ability(user),
        circumstances: {
          clientId: client_id ?? undefined,
          person: user.person,
          // without an address, the browser is in no network
          browser: { address: ip_address ?? '', known: !findings?.some(({ reason }) => reason === 'new-device') },
        },
        risk: findings && risk.judge(findings, policy),
        factors: [],
      },
      now(),
    );
  }

  /** The present flow of each sign-in. */
  async function presentFlows(realm: string, rows: readonly store.SignInRow[], bound: string) {
    const clientIds = [...new Set(rows.flatMap(({ client_id }) => client_id ?? []))];
    const named = clientIds.length === 0 ? [] : await store.overrides(sql, realm, clientIds);
    const byClient = new Map(named.map(({ client_id, flow }) => [client_id, flow]));
    const aliasOf = ({ client_id }: store.SignInRow): string => byClient.get(client_id ?? '') ?? bound;
    const trees = new Map<string, Tree>();
    for (const alias of new Set([bound, ...byClient.values()]))
      trees.set(alias, (await flows.tree(realm, alias)) ?? []);
    return { aliasOf, treeOf: (row: store.SignInRow): Tree => trees.get(aliasOf(row)) ?? [] };
  }

  async function replay(
    realm: string,
    alias: string,
    { executions, limit, signIns: wanted, ...asked }: ReplayInput,
    { seesUsers }: { seesUsers: boolean },
  ): Promise<FlowReplay> {
    const policy = await settings.of(realm);
    if (!policy) throw missing('realm');
    const saved = await flows.tree(realm, alias);
    if (!saved) throw missing('flow');
    const unsaved = executions && flows.unsaved(executions);
    if (unsaved) await refuseProbes(realm, unsaved, { saved, seesUsers });
    const tree = unsaved?.tree ?? saved;
    const period = periodOf(asked, now());
    const isUsed = policy.browserFlow === alias || (await store.isAskedFor(sql, realm, alias));
    const signIns = wanted ?? (isUsed ? 'of-flow' : 'all');

    const successes = await sampleOf(realm, 'LOGIN_SUCCESS', { ...period, limit });
    const failures = await sampleOf(realm, 'LOGIN_FAILURE', { ...period, limit });
    const decided = failures.rows.filter(({ reason }) => DECIDED.has(reason ?? ''));
    const all = [...successes.rows, ...decided];
    const present = await presentFlows(realm, all, policy.browserFlow);
    const rows = signIns === 'all' ? all : all.filter((row) => present.aliasOf(row) === alias);
    const ids = rows.flatMap(({ user_id }) => (UUID.safeParse(user_id).success && user_id !== null ? [user_id] : []));
    const withPerson = looksAtUsers(tree) || rows.some((row) => looksAtUsers(present.treeOf(row)));
    const users = await usersOf(realm, [...new Set(ids)], withPerson);

    const tally = createReplayTally();
    const notReplayed = {
      otherFlow: all.length - rows.length,
      otherFailures: failures.rows.length - decided.length,
      unknownUser: 0,
      noTime: 0,
    };
    /** Sign-ins of a user in the same situation differ in nothing. */
    const seen = new Map<string, Difference>();
    let judged = 0;
    let since = performance.now();
    for (const row of rows) {
      const user = users.get(row.user_id ?? '');
      if (!user) {
        notReplayed.unknownUser += 1;
        continue;
      }
      const key = JSON.stringify([user.id, row.client_id, row.ip_address, findingsOf(row.risk)]);
      let difference = seen.get(key);
      if (!difference && judged >= MOST_MS) {
        notReplayed.noTime += 1;
        continue;
      }
      if (!difference) {
        difference = compare(pathBy(present.treeOf(row), policy, user, row), pathBy(tree, policy, user, row));
        seen.set(key, difference);
      }
      const { id: userId, username } = user;
      tally.add({ at: row.at, userId, username, clientId: row.client_id, ipAddress: row.ip_address }, difference);
      const spent = performance.now() - since;
      if (spent < SLICE_MS) continue;
      judged += spent;
      await yieldLoop();
      since = performance.now();
    }
    return {
      flow: alias,
      from: period.from.getTime(),
      to: period.to.getTime(),
      signIns,
      successes: successes.told,
      failures: failures.told,
      ...tally.counts(),
      notReplayed,
      affected: seesUsers ? tally.affected() : null,
      assumptions: ASSUMPTIONS,
    };
  }

  return {
    /** @throws Problem `too-many-requests` while several replays of the realm wait */
    async replay(
      realm: string,
      alias: string,
      input: ReplayInput,
      caller: { seesUsers: boolean },
    ): Promise<FlowReplay> {
      const before = waiting.get(realm) ?? 0;
      if (before >= MOST_WAITING)
        throw new Problem('too-many-requests', 'Other replays of this realm are running', {
          retryAfterSeconds: RETRY_SECONDS,
        });
      waiting.set(realm, before + 1);
      try {
        return await inTurn(realm, () => replay(realm, alias, input, caller));
      } finally {
        const left = (waiting.get(realm) ?? 1) - 1;
        if (left > 0) waiting.set(realm, left);
        else waiting.delete(realm);
      }
    },
  };
}
export type FlowReplays = ReturnType<typeof createFlowReplays>;
