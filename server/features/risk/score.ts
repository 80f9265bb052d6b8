// The risk scorer, pure: what is unusual about this sign-in, and how many points each finding is worth. Specification 1, 3
// "Risk bands". It knows only what it was shown; what it can't know (a place without a locator) it doesn't guess.
import { isIP, isIPv4 } from 'node:net';
import type { RiskAction } from '../../contract/settings.ts';
import type { Finding } from '../../domain/risk.ts';

export interface Place {
  latitude: number;
  longitude: number;
}
export interface PastSignIn {
  at: Date;
  success: boolean;
  network: string | null;
  place: Place | undefined;
}
export interface Attempt {
  at: Date;
  network: string | undefined;
  place: Place | undefined;
  /** undefined: this person has no known device to compare with */
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

const POINTS = { newDevice: 30, newNetwork: 20, impossibleSpeed: 50, unusualHour: 10, failure: 10, failuresMost: 40 };
const FREE_FAILURES = 2;
const FAILURES_MS = 60 * 60 * 1000;
/** Faster than an airliner. */
const FASTEST_KMH = 1000;
/** A wrong city is not a journey. */
const NEAR_KM = 100;
const HOUR_MS = 60 * 60 * 1000;
const HOURS_NEED = 5;
const HOURS_NEAR = 2;
const EARTH_KM = 6371;

/** The network somebody comes from: /24 of IPv4, /48 of IPv6. */
export function networkOf(address: string | null): string | undefined {
  if (address === null) return undefined;
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  if (isIPv4(plain)) return `${plain.split('.').slice(0, 3).join('.')}.0/24`;
  if (isIP(plain) !== 6) return undefined;
  const [head = '', tail] = plain.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length;
  const groups = [...left, ...Array<string>(Math.max(0, zeros)).fill('0'), ...right];
  return `${groups
    .slice(0, 3)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/48`;
}

function distanceKm(a: Place, b: Place): number {
  const rad = (degrees: number) => (degrees * Math.PI) / 180;
  const dLat = rad(b.latitude - a.latitude);
  const dLon = rad(b.longitude - a.longitude);
  const h = Math.sin(dLat / 2) ** 2 + Math.cos(rad(a.latitude)) * Math.cos(rad(b.latitude)) * Math.sin(dLon / 2) ** 2;
  return 2 * EARTH_KM * Math.asin(Math.min(1, Math.sqrt(h)));
}

/** What is unusual; a person's first sign-in has nothing to be compared with and so nothing unusual. */
export function findings(attempt: Attempt, past: readonly PastSignIn[]): Finding[] {
  const found: Finding[] = [];
  const successes = past.filter((p) => p.success);
  if (attempt.deviceKnown === false) found.push({ reason: 'new-device', points: POINTS.newDevice });
  const networks = new Set(successes.map((p) => p.network).filter((n) => n !== null));
  if (attempt.network !== undefined && networks.size > 0 && !networks.has(attempt.network))
    found.push({ reason: 'new-network', points: POINTS.newNetwork });
  const since = attempt.at.getTime() - FAILURES_MS;
  const failures = past.filter((p) => !p.success && p.at.getTime() > since).length - FREE_FAILURES;
  // A stranger's wrong guesses say nothing of whoever comes with a device of theirs.
  if (failures > 0 && attempt.deviceKnown !== true)
    found.push({ reason: 'failed-attempts', points: Math.min(failures * POINTS.failure, POINTS.failuresMost) });
  if (tooFast(attempt, successes)) found.push({ reason: 'impossible-speed', points: POINTS.impossibleSpeed });
  if (unusualHour(attempt.at, successes)) found.push({ reason: 'unusual-hour', points: POINTS.unusualHour });
  return found;
}

function tooFast({ at, place }: Attempt, successes: readonly PastSignIn[]): boolean {
  const last = successes.toSorted((a, b) => b.at.getTime() - a.at.getTime()).find((p) => p.place);
  if (!place || !last?.place) return false;
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
