// The signs of risk in a sign-in: their names in the audit log, and the points that a realm gives each.
// features/authentication/risk computes the score. Specification 1 "Adaptive authentication", 3 "Risk bands".
import { z } from 'zod';

/** The points in a fresh realm. */
const points = {
  'new-device': 30,
  'new-network': 20,
  'new-country': 20,
  'impossible-speed': 50,
  'unusual-hour': 10,
  'failed-attempts': 10,
  'address-velocity': 30,
  'breached-password': 30,
  automation: 20,
  'security-signal': 40,
} as const;

export type RiskReason = keyof typeof points;
export const RiskReason = z.enum(Object.keys(points) as [RiskReason, ...RiskReason[]]);
export const freshWeights: Readonly<Record<RiskReason, number>> = points;

const weight = (what: string) => z.int().min(0).max(100).optional().describe(what);
const shape: Record<RiskReason, ReturnType<typeof weight>> = {
  'new-device': weight('A browser that the person has not signed in with'),
  'new-network': weight('A network that they have not signed in from'),
  'new-country': weight('A country that they have not signed in from, where a proxy says it'),
  'impossible-speed': weight('Too far from the last sign-in for the time between, where a proxy says where it is'),
  'unusual-hour': weight('A time of day at which they never sign in'),
  'failed-attempts': weight('Each failed try of the last hour after the second, up to four of them'),
  'address-velocity': weight('Many other people’s sign-ins have failed from the same network in the last hour'),
  'breached-password': weight('The password is known from breaches; asked where `breachedPasswordCheck` is on'),
  automation: weight('The browser looks like a program'),
  'security-signal': weight('A trusted transmitter of signals has raised the person’s risk in the last day'),
};
export const RiskWeights = z.strictObject(shape);
export type RiskWeights = z.infer<typeof RiskWeights>;
