// The risk scorer, pure: what is unusual about a sign-in, and how many points each finding counts. Specification 1, 3 "Risk
// bands". It uses only its arguments, and doesn't guess what is unknown (a place without a locator).
import { HOUR_MS } from '../../../contract/durations.ts';
import { freshWeights, type RiskReason, type RiskWeights } from '../../../contract/risk.ts';
import type { RiskAction } from '../../../contract/settings.ts';
import type { Finding } from '../../../domain/risk.ts';

export interface Coordinates {
  latitude: number;
  longitude: number;
}
export interface PastSignIn {
  at: Date;
  success: boolean;
  network: string | null;
  country: string | null;
  place: Coordinates | undefined;
}
export interface Attempt {
  at: Date;
  network: string | undefined;
  /** ISO 3166. */
  country: string | undefined;
  place: Coordinates | undefined;
  /** The number of other users whose sign-ins failed from this network within {@link FAILURES_MS}. */
  othersFailed: number;
  /** Findings of earlier steps: about the password or the browser. */
  signals: readonly RiskReason[];
  /** undefined: the user has no known device to compare with */
  deviceKnown: boolean | undefined;
}

export type Band = 'low' | 'medium' | 'high';
export interface Risk {
  score: number;
  band: Band;
  action: RiskAction;
  findings: Finding[];
}
export interface RiskPolicy {
  riskMediumThreshold: number;
  riskHighThreshold: number;
  riskLowAction: RiskAction;
  riskMediumAction: RiskAction;
  riskHighAction: RiskAction;
}

const FREE_FAILURES = 2;
const FAILURES_COUNT = 4;
/** From a shared office, a few other users' failures are normal. */
const OTHERS_FREE = 10;
export const FAILURES_MS = HOUR_MS;
/** Faster than an airliner. */
const FASTEST_KMH = 1000;
/** Locations this close can be an error of the locator. */
const NEAR_KM = 100;
/** The shortest journey between two countries if only the countries are known. Some users live at a border. */
const JOURNEY_MS = HOUR_MS;
const HOURS_NEED = 5;
const HOURS_NEAR = 2;
const EARTH_KM = 6371;

function distanceKm(a: Coordinates, b: Coordinates): number {
  const rad = (degrees: number) => (degrees * Math.PI) / 180;
  const dLat = rad(b.latitude - a.latitude);
  const dLon = rad(b.longitude - a.longitude);
  const h = Math.sin(dLat / 2) ** 2 + Math.cos(rad(a.latitude)) * Math.cos(rad(b.latitude)) * Math.sin(dLon / 2) ** 2;
  return 2 * EARTH_KM * Math.asin(Math.min(1, Math.sqrt(h)));
}

/** The unusual circumstances of a sign-in. A user's first sign-in has nothing to compare with, so nothing is unusual. */
export function findings(attempt: Attempt, past: readonly PastSignIn[], weights: RiskWeights = {}): Finding[] {
  const found: Finding[] = [];
  const find = (reason: RiskReason, times = 1) => {
    const points = (weights[reason] ?? freshWeights[reason]) * times;
    if (points > 0) found.push({ reason, points });
  };
  const successes = past.filter((p) => p.success);
  if (attempt.deviceKnown === false) find('new-device');
  if (isOther(attempt.network, new Set(successes.map((p) => p.network)))) find('new-network');
  if (isOther(attempt.country, new Set(successes.map((p) => p.country)))) find('new-country');
  const since = attempt.at.getTime() - FAILURES_MS;
  const failures = past.filter((p) => !p.success && p.at.getTime() > since).length - FREE_FAILURES;
  // Failures from elsewhere are no reason to suspect a user on a known device.
  if (failures > 0 && attempt.deviceKnown !== true) find('failed-attempts', Math.min(failures, FAILURES_COUNT));
  if (attempt.othersFailed > OTHERS_FREE && attempt.deviceKnown !== true) find('address-velocity');
  if (tooFast(attempt, successes)) find('impossible-speed');
  if (unusualHour(attempt.at, successes)) find('unusual-hour');
  for (const signal of attempt.signals) find(signal);
  return found;
}

/** Whether the value differs from all values that the user is known with, if there are any. */
function isOther(value: string | undefined, used: Set<string | null>): boolean {
  used.delete(null);
  return value !== undefined && used.size > 0 && !used.has(value);
}

function tooFast({ at, place, country }: Attempt, successes: readonly PastSignIn[]): boolean {
  const newest = successes.toSorted((a, b) => b.at.getTime() - a.at.getTime());
  const last = newest.find((p) => p.place);
  if (!place || !last?.place) {
    const before = newest.find((p) => p.country !== null);
    const left = before && at.getTime() - before.at.getTime() < JOURNEY_MS;
    return !!left && country !== undefined && before.country !== country;
  }
  const km = distanceKm(last.place, place);
  const hours = Math.max((at.getTime() - last.at.getTime()) / HOUR_MS, 1 / 60);
  return km > NEAR_KM && km / hours > FASTEST_KMH;
}

function unusualHour(at: Date, successes: readonly PastSignIn[]): boolean {
  if (successes.length < HOURS_NEED) return false;
  const hour = at.getUTCHours();
  return successes.every((p) => {
    const apart = Math.abs(p.at.getUTCHours() - hour);
    return Math.min(apart, 24 - apart) > HOURS_NEAR;
  });
}

/** score < medium → low; medium ≤ score < high → medium; score ≥ high → high (decisions "Reading and writing"). */
export function bandOf(score: number, policy: Pick<RiskPolicy, 'riskMediumThreshold' | 'riskHighThreshold'>): Band {
  if (score >= policy.riskHighThreshold) return 'high';
  return score >= policy.riskMediumThreshold ? 'medium' : 'low';
}

export function judge(found: Finding[], policy: RiskPolicy): Risk {
  const score = Math.min(
    100,
    found.reduce((sum, { points }) => sum + points, 0),
  );
  const band = bandOf(score, policy);
  const action = { low: policy.riskLowAction, medium: policy.riskMediumAction, high: policy.riskHighAction }[band];
  return { score, band, action, findings: found };
}
