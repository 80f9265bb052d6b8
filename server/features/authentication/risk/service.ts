// Owns: the history of a user's sign-ins for scoring: devices by a cookie, networks, failures; and the score.
// Does not own: the points (score.ts), the consequences of an action (features/authentication/sign-in).
// Implements: specification 1 "Adaptive authentication", 2.3 (risk fields), 3 "Risk bands".

import type {} from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DAY_MS, HOUR_MS } from '../../../contract/durations.ts';
import type { RiskReason } from '../../../contract/risk.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { newSecret, sha256 } from '../../../crypto/tokens.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Tx } from '../../../db/transact.ts';
import type { Finding } from '../../../domain/risk.ts';
import { widerNetwork } from '../../../http/network.ts';
import { realmCookie } from '../../../http/realm-cookie.ts';
import { looksAutomated } from './automation.ts';
import type { Locate, Location } from './location.ts';
import { FAILURES_MS, findings, judge, type PastSignIn, type Risk } from './score.ts';
import * as store from './store.ts';

export interface RiskDeps {
  sql: Sql;
  baseUrl: string;
  now: () => Date;
  newId: () => string;
  /** The browser's location, if a proxy provides it. */
  locate: Locate;
}

/** The circumstances of a sign-in that is scored. */
export interface Circumstances {
  /** undefined: the address counts as usual. */
  address: string | undefined;
  where: Location;
  /** Findings of earlier steps. */
  signals: readonly RiskReason[];
  /** undefined: the user has no known device to compare with. */
  deviceKnown: boolean | undefined;
}

const HISTORY = 50;
const HISTORY_DAYS = 90;
const DEVICE_DAYS = 365;
/** The first device of an account younger than this is not reported as new. */
const NEW_ACCOUNT_MS = HOUR_MS;
const USER_AGENT_MAX = 500;
const userAgentOf = ({ headers }: FastifyRequest): string | null =>
  headers['user-agent']?.replaceAll('\0', '').slice(0, USER_AGENT_MAX) ?? null;

export function createRisk({ sql, baseUrl, now, newId, locate }: RiskDeps) {
  const cookie = realmCookie(baseUrl, 'SVC_DEVICE');
  const deviceOf = (request: FastifyRequest, realm: string): Buffer | null => {
    const device = request.cookies[cookie.nameIn(realm)];
    return device ? sha256(device) : null;
  };
  const row = (address: string | null, success: boolean, where?: Location) => {
    const { country = null, place } = where ?? {};
    return {
      id: newId(),
      at: now(),
      success,
      ipAddress: address,
      network: (address === null ? undefined : widerNetwork(address)) ?? null,
      country,
      latitude: place?.latitude ?? null,
      longitude: place?.longitude ?? null,
    };
  };

  /** Whether the user has signed in with this browser before. */
  const knowsDevice = async (request: FastifyRequest, realm: string, userId: string): Promise<boolean> => {
    const device = deviceOf(request, realm);
    return device !== null && ((await store.devices(sql, realm, userId, device, now()))?.known ?? false);
  };
  const madeBefore = (): Date => new Date(now().getTime() - NEW_ACCOUNT_MS);
  /**
   * `some`: the user has known browsers. In a realm with `deviceRemembering: ask`, a user who never agreed has none,
   * however many sign-ins there were.
   */
  async function looked(
    request: FastifyRequest,
    realm: string,
    { deviceRemembering }: Pick<RealmSettingsDto, 'deviceRemembering'>,
    userId: string,
  ) {
    const found = await store.devices(sql, realm, userId, deviceOf(request, realm), now());
    if (!found) return { some: false, deviceKnown: false, deviceNew: false, signalled: false };
    const { some, known, programs, madeAt, signalled } = found;
    const cameBefore = some || (deviceRemembering !== 'ask' && (programs || madeAt < madeBefore()));
    return { some, deviceKnown: known, deviceNew: cameBefore && !known, signalled };
  }
  /** Scores a sign-in of the user under these circumstances. It reads the user's history and writes nothing. */
  async function assess(realm: string, policy: RealmSettingsDto, userId: string, given: Circumstances): Promise<Risk> {
    const rows = await store.history(sql, realm, userId, HISTORY);
    const past = rows.map(
      ({ at, success, network, country, latitude, longitude }): PastSignIn => ({
        at,
        success,
        network,
        country,
        place: latitude === null || longitude === null ? undefined : { latitude, longitude },
      }),
    );
    const at = now();
    const network = given.address === undefined ? undefined : widerNetwork(given.address);
    const since = new Date(at.getTime() - FAILURES_MS);
    const attempt = {
      at,
      network,
      ...given.where,
      othersFailed: network === undefined ? 0 : await store.othersFailed(sql, realm, { userId, network, since }),
      signals: given.signals,
      deviceKnown: given.deviceKnown,
    };
    return judge(findings(attempt, past, policy.riskWeights), policy);
  }
  const forget = (run: Tx['atLast'], realm: string, userId: string, at: Date): void => {
    const ago = (days: number) => new Date(at.getTime() - days * DAY_MS);
    store.forget(run, realm, userId, { history: ago(HISTORY_DAYS), devices: ago(DEVICE_DAYS) });
  };

  return {
    knowsDevice,
    assess,
    /** Whether the user has browsers that a new one differs from. */
    hasKnownDevice: async (realm: string, userId: string): Promise<boolean> =>
      (await store.devices(sql, realm, userId, null, now()))?.some ?? false,

    /**
     * Scores a sign-in of a known user, unless the realm's risk policy is off.
     * @param device whether the device is checked even then; `signals`: findings of earlier steps; `byPage`: a user signs
     * in on a page, not a program
     */
    async score(
      request: FastifyRequest,
      realm: string,
      policy: RealmSettingsDto,
      userId: string,
      { device, signals, byPage }: { device: boolean; signals: readonly RiskReason[]; byPage: boolean },
    ): Promise<{ risk?: Risk; deviceKnown?: boolean; deviceNew?: boolean }> {
      if (!policy.riskPolicyEnabled && !device) return {};
      const { some, deviceKnown, deviceNew, signalled } = await looked(request, realm, policy, userId);
      if (!policy.riskPolicyEnabled) return { deviceKnown, deviceNew };
      const risk = await assess(realm, policy, userId, {
        address: request.ip,
        where: locate(request),
        signals: [
          ...signals,
          ...(byPage && looksAutomated(request) ? (['automation'] as const) : []),
          ...(signalled ? (['security-signal'] as const) : []),
        ],
        deviceKnown: some ? deviceKnown : undefined,
      });
      return { risk, deviceKnown, deviceNew };
    },

    hasDevice: (request: FastifyRequest, realm: string): boolean => deviceOf(request, realm) !== null,

    /** The digest of the browser's device cookie, if any user of the realm has signed in with it. */
    async knownDevice(request: FastifyRequest, realm: string): Promise<string | undefined> {
      const device = deviceOf(request, realm);
      return device && (await store.isKnownDevice(sql, realm, device)) ? device.toString('hex') : undefined;
    },

    /** The risk of stored findings by the present policy; undefined: the realm's risk policy is off. */
    judge: (found: readonly Finding[], policy: RealmSettingsDto): Risk | undefined =>
      policy.riskPolicyEnabled ? judge([...found], policy) : undefined,

    /**
     * Remembers a failure while the policy is on. For an unknown user the same statement runs and stores nothing, so that
     * the time doesn't tell whether the user exists.
     */
    failed(
      run: Tx['atLast'],
      realm: string,
      policy: RealmSettingsDto,
      userId: string | undefined,
      ipAddress: string | null,
    ) {
      if (policy.riskPolicyEnabled) store.remember(run, realm, userId ?? newId(), row(ipAddress, false));
    },

    /**
     * Remembers a sign-in without a page, which has no device cookie: the network, and with `remembers` also the program,
     * by its network and user agent. @returns whether the program is new to the user
     */
    async visited(
      { sql: on, atLast }: Pick<Tx, 'sql' | 'atLast'>,
      request: FastifyRequest,
      realm: string,
      policy: RealmSettingsDto,
      userId: string,
      { remembers }: { remembers: boolean },
    ): Promise<boolean> {
      if (policy.riskPolicyEnabled) store.remember(atLast, realm, userId, row(request.ip, true));
      if (!remembers) return false;
      const at = now();
      forget(atLast, realm, userId, at);
      const userAgent = userAgentOf(request);
      const hash = sha256(JSON.stringify([widerNetwork(request.ip), userAgent]));
      return store.rememberProgram(on, realm, userId, { hash, userAgent, at, made: madeBefore() });
    },

    /**
     * Remembers a sign-in: the network, and the device if it was checked. @returns the value for the device cookie, to set
     * after the commit
     */
    succeeded(
      run: Tx['atLast'],
      request: FastifyRequest,
      realm: string,
      policy: RealmSettingsDto,
      {
        userId,
        deviceKnown,
        isTheirs,
      }: {
        userId: string;
        deviceKnown: boolean | undefined;
        /** The user says that the browser is their own. */
        isTheirs: boolean;
      },
    ): string | undefined {
      if (!policy.riskPolicyEnabled && deviceKnown === undefined) return undefined;
      const at = now();
      forget(run, realm, userId, at);
      if (policy.riskPolicyEnabled) store.remember(run, realm, userId, row(request.ip, true, locate(request)));
      if (deviceKnown === undefined) return undefined;
      if (!deviceKnown && policy.deviceRemembering === 'ask' && !isTheirs) return undefined;
      // Another person may have set the cookie, so only a cookie that is known for this user is kept.
      const device = (deviceKnown && request.cookies[cookie.nameIn(realm)]) || newSecret();
      store.rememberDevice(run, realm, userId, { hash: sha256(device), userAgent: userAgentOf(request), at });
      return device;
    },

    setCookie(reply: FastifyReply, realm: string, device: string): void {
      void reply.setCookie(cookie.nameIn(realm), device, {
        ...cookie.options(realm),
        maxAge: (DEVICE_DAYS * DAY_MS) / 1000,
      });
    },
  };
}
export type RiskService = ReturnType<typeof createRisk>;
