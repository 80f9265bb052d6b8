// Owns: the report on why a user can or can't sign in, and the simulation of a sign-in. Both only read.
// Does not own: the order of steps (sign-in/engine.ts, sign-in/path.ts), locks (credentials/lockouts.ts), the score (risk).
// Implements: decisions "Sign-in report".

import { z } from 'zod';
import { Problem } from '../../../contract/problem.ts';
import { RiskReason } from '../../../contract/risk.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import type {
  RiskShown,
  SignInAttempt,
  SignInPath,
  SignInReport,
  SignInSimulation,
  SignInSituation,
  UnsavedSituation,
} from '../../../contract/sign-in-report.ts';
import type { Lockout } from '../../../contract/user-access.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Factor, Factors } from '../../../domain/factors.ts';
import { personOf, readPersonRow } from '../../../domain/person.ts';
import type { PersonStanding } from '../../../domain/standing.ts';
import type { AuthenticatorRecord } from '../../authentication/authenticators/authenticator.ts';
import type { Risk } from '../../authentication/risk/score.ts';
import type { RiskService } from '../../authentication/risk/service.ts';
import { createJudge, dueActions } from '../../authentication/sign-in/judge.ts';
import { type Path, pathOf } from '../../authentication/sign-in/path.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import type { Flows } from '../../configuration/flows/service.ts';
import type { TreeNode } from '../../configuration/flows/tree.ts';
import type { Credentials } from '../../people/credentials/service.ts';
import { createProbes } from './probes.ts';
import { createSteps } from './steps.ts';
import * as store from './store.ts';
import { attemptWords, findingWords } from './words.ts';

export interface SignInReportDeps {
  sql: Sql;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  flows: Pick<Flows, 'treeFor' | 'tree' | 'unsaved'>;
  clients: { view(realm: string, clientId: string): Promise<ClientView | undefined> };
  registry: readonly AuthenticatorRecord[];
  factors: Factors;
  credentials: Pick<Credentials, 'standing' | 'lockout'>;
  /** The directory that keeps the user's password. */
  federation: { source: { keeperOf(realm: string, userId: string): Promise<string | undefined> } };
  risk: Pick<RiskService, 'assess' | 'hasKnownDevice'>;
  sends(realm: string, channel: 'EMAIL' | 'SMS'): Promise<boolean>;
  now: () => Date;
}

type Wanted = z.output<typeof SignInSituation>;
/** A situation, with the tree that decides it if it is not a saved one. */
interface Situation extends Omit<Wanted, 'proven'> {
  proven: readonly string[];
  unsaved?: readonly TreeNode[] | undefined;
}
/** Whether the caller may see the user's former sign-ins. */
interface Sees {
  seesPast: boolean;
}
const idsIn = (text: string): string[] => text.split(',').flatMap((id) => id.trim() || []);
/** The aliases of the identity providers that a tree names. */
const providersIn = (nodes: readonly TreeNode[]): string[] =>
  nodes.flatMap(({ config, children }) => [
    ...(typeof config.provider === 'string' ? [config.provider] : []),
    ...providersIn(children),
  ]);
const missing = (what: string) => new Problem('not-found', `There is no such ${what}`);
const StoredRisk = z.object({
  score: z.number(),
  band: z.enum(['low', 'medium', 'high']),
  action: z.enum(['allow', 'step_up', 'deny']),
  findings: z.array(z.object({ reason: RiskReason, points: z.number() })),
});

const shownRisk = ({ score, band, action, findings }: z.infer<typeof StoredRisk>): RiskShown => ({
  score,
  band,
  action,
  findings: findings.map(({ reason, points }) => ({ reason, points, message: findingWords[reason] })),
});

/** An event of an older server may lack the risk, or have another form of it. */
function attemptOf({ id, at, type, outcome, reason, risk, ip_address, client_id }: store.AttemptRow): SignInAttempt {
  const stored = StoredRisk.safeParse(risk).data;
  return {
    id,
    at: at.getTime(),
    type,
    outcome,
    reason,
    message: attemptWords({ type, reason }),
    ipAddress: ip_address,
    clientId: client_id,
    risk: stored ? shownRisk(stored) : null,
  };
}

const BANDS = { low: 'riskLowAction', medium: 'riskMediumAction', high: 'riskHighAction' } as const;

export function createSignInReports(deps: SignInReportDeps) {
  const { sql, settings, flows, clients, registry, factors, credentials, federation, risk, sends, now } = deps;
  const judge = createJudge(deps);
  const { ability, shownPath } = createSteps(registry);
  const refuseProbes = createProbes({ sql, registry });

  async function userOf(realm: string, userId: string) {
    const [user, standing] = await Promise.all([
      store.findUser(sql, realm, userId),
      credentials.standing(realm, userId),
    ]);
    if (!user || !standing) throw missing('user');
    const { EMAIL, SMS } = standing.reach;
    const sent = { EMAIL: await sends(realm, 'EMAIL'), SMS: await sends(realm, 'SMS') };
    const reach = { EMAIL: sent.EMAIL ? EMAIL : null, SMS: sent.SMS ? SMS : null };
    const keeper = await federation.source.keeperOf(realm, userId);
    const { providers, reported } = user;
    return { user, standing: { ...standing, reach }, keeper, providers, reported, sends: sent };
  }
  type Loaded = Awaited<ReturnType<typeof userOf>>;

  async function flowFor(realm: string, { clientId, flow, unsaved }: Pick<Situation, 'clientId' | 'flow' | 'unsaved'>) {
    const client = clientId === undefined ? undefined : await clients.view(realm, clientId);
    if (clientId !== undefined && !client) throw missing('client');
    if (unsaved) return { tree: unsaved, alias: flow ?? '', boundBy: 'request' as const };
    if (flow !== undefined) {
      const tree = await flows.tree(realm, flow);
      if (!tree) throw missing('flow');
      return { tree, alias: flow, boundBy: 'request' as const };
    }
    const override = client?.flowOverride ?? undefined;
    const { tree, alias } = await flows.treeFor(realm, override);
    return { tree, alias, boundBy: alias === override ? ('client' as const) : ('realm' as const) };
  }

  async function settingsOf(realm: string): Promise<RealmSettingsDto> {
    const found = await settings.of(realm);
    if (!found) throw missing('realm');
    return found;
  }

  async function walk(
    realm: string,
    userId: string,
    loaded: Loaded,
    {
      situation: { clientId, flow, unsaved, level, ipAddress, deviceKnown, proven },
      risk: found,
    }: { situation: Situation; risk: Pick<Risk, 'action' | 'band'> | undefined },
  ) {
    const policy = await settingsOf(realm);
    const { tree, alias, boundBy } = await flowFor(realm, { clientId, flow, unsaved });
    const row = await readPersonRow(sql, realm, userId);
    const at = now();
    const before = proven.map((id): Factor => ({ authenticator: id, at: at.getTime() }));
    const path = pathOf(
      { judge, factors, registry },
      { tree, settings: policy, requiredLevel: level },
      {
        person: loaded.standing,
        able: ability(loaded),
        circumstances: {
          clientId,
          person: row && personOf(row),
          // without an address, the browser is in no network
          browser: { address: ipAddress ?? '', known: deviceKnown },
        },
        risk: found,
        factors: before,
      },
      at,
    );
    const means = { sends: loaded.sends, ...(await store.offeredProviders(sql, realm, providersIn(tree))) };
    return { path, shown: shownPath(path, means, { flow: alias, boundBy }) };
  }

  /** A score by an address tells whether the user has signed in from there: only a caller who may see that gets one. */
  async function simulate(
    realm: string,
    userId: string,
    situation: Situation,
    { seesPast }: Sees,
  ): Promise<SignInSimulation> {
    const loaded = await userOf(realm, userId);
    const policy = await settingsOf(realm);
    const { riskBand: band, ipAddress: address, deviceKnown } = situation;
    if (!policy.riskPolicyEnabled || band !== undefined || !seesPast) {
      const given = policy.riskPolicyEnabled && band ? { band, action: policy[BANDS[band]] } : undefined;
      return { path: (await walk(realm, userId, loaded, { situation, risk: given })).shown, risk: null };
    }
    const some = deviceKnown || (await risk.hasKnownDevice(realm, userId));
    const found = await risk.assess(realm, policy, userId, {
      address,
      where: { country: undefined, place: undefined },
      signals: [],
      deviceKnown: some ? deviceKnown : undefined,
    });
    const { shown } = await walk(realm, userId, loaded, { situation, risk: found });
    return { path: shown, risk: shownRisk(found) };
  }

  return {
    /** @param attempts how many of the last attempts; null: the caller may not see them */
    async report(
      realm: string,
      userId: string,
      { clientId, attempts }: { clientId: string | undefined; attempts: number | null },
    ): Promise<SignInReport> {
      const loaded = await userOf(realm, userId);
      const { user, standing } = loaded;
      const policy = await settingsOf(realm);
      const lock = await credentials.lockout(realm, userId);
      const situation = { clientId, level: 0, deviceKnown: true, proven: [] };
      const { path, shown } = await walk(realm, userId, loaded, { situation, risk: undefined });
      const rows = attempts === null ? null : await store.lastAttempts(sql, realm, userId, attempts);
      const obstacles = obstaclesOf(loaded, lock, path, shown);
      return {
        userId,
        username: user.username,
        canSignIn: obstacles.length === 0,
        obstacles,
        enabled: standing.enabled,
        lock: { ...lock, message: lockWords(lock) },
        requiredActions: dueActions(standing, policy, now()),
        path: shown,
        attempts: rows?.map(attemptOf) ?? null,
      };
    },

    simulate: (realm: string, userId: string, { proven, ...wanted }: Wanted, sees: Sees): Promise<SignInSimulation> =>
      simulate(realm, userId, { ...wanted, proven: idsIn(proven ?? '') }, sees),

    /** As {@link simulate}, for a tree that is not saved. */
    async simulateUnsaved(
      realm: string,
      userId: string,
      { executions, ...wanted }: z.output<typeof UnsavedSituation>,
      sees: Sees,
    ): Promise<SignInSimulation> {
      const saved = wanted.flow === undefined ? [] : await flows.tree(realm, wanted.flow);
      if (!saved) throw missing('flow');
      const unsaved = flows.unsaved(executions);
      await refuseProbes(realm, unsaved, { saved, seesUsers: true });
      return simulate(realm, userId, { ...wanted, unsaved: unsaved.tree }, sees);
    },
  };
}
export type SignInReports = ReturnType<typeof createSignInReports>;

function lockWords({ locked, lockedUntil, rule, failures }: Lockout): string {
  if (!locked || lockedUntil === null)
    return failures === 0 ? 'Not locked' : `Not locked; ${failures} failed attempts are counted`;
  const until = new Date(lockedUntil).toISOString();
  return rule === 'codes-of-a-day'
    ? `Locked until ${until}: too many wrong codes in a day`
    : `Locked until ${until}: ${failures} failed attempts in a row`;
}

function obstaclesOf(
  { user, standing }: { user: store.ReportedUser; standing: PersonStanding },
  lock: Lockout,
  path: Path,
  { message }: SignInPath,
): SignInReport['obstacles'] {
  const found: SignInReport['obstacles'] = [];
  if (!standing.enabled) found.push({ code: 'disabled', message: 'The user is disabled' });
  if (lock.locked) found.push({ code: 'locked', message: lockWords(lock) });
  if (path.ends === 'stuck') {
    const [first] = path.steps;
    const code = user.reported ? 'password-reported' : path.steps.length === 1 && first ? 'no-way' : 'step-impossible';
    const reported = 'The user reported the password as stolen: set a new one, or send a link to choose one';
    found.push({ code, message: user.reported ? reported : message });
  }
  if (path.ends === 'refused' && path.because !== 'disabled')
    found.push({ code: path.because === 'risk' ? 'risk-denied' : 'flow-refuses', message });
  return found;
}
