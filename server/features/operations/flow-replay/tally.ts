// The result of a replay, counted: sign-ins and users by outcome and by reason, and the affected users. Pure.
import {
  type AffectedUser,
  type FlowReplay,
  type ReplayOutcome,
  replayOutcomes,
} from '../../../contract/flow-replay.ts';
import type { Difference } from './compare.ts';

export interface TriedSignIn {
  at: Date;
  userId: string;
  username: string;
  clientId: string | null;
  ipAddress: string | null;
}
interface Count {
  signIns: number;
  users: Set<string>;
}

const MOST_REASONS = 50;
const graveness = (outcome: ReplayOutcome): number => replayOutcomes.indexOf(outcome);
const isAffecting = (outcome: ReplayOutcome): boolean => outcome !== 'unchanged' && outcome !== 'blocked-already';
const shown = ({ signIns, users }: Count) => ({ signIns, users: users.size });

function add<K>(counts: Map<K, Count>, key: K, userId: string): void {
  const count = counts.get(key) ?? { signIns: 0, users: new Set<string>() };
  count.signIns += 1;
  count.users.add(userId);
  counts.set(key, count);
}

/** Takes sign-ins in any order. */
export function createReplayTally() {
  const all: Count = { signIns: 0, users: new Set() };
  const outcomes = new Map<ReplayOutcome, Count>();
  const reasons = new Map<string, Count>();
  const users = new Map<string, AffectedUser>();

  function note(signIn: TriedSignIn, { outcome, message, more, less }: Difference): void {
    const { userId, username, clientId, ipAddress } = signIn;
    if (!isAffecting(outcome)) return;
    const at = signIn.at.getTime();
    const before = users.get(userId);
    const newest = { userId, username, outcome, message, at, clientId, ipAddress, more, less };
    if (!before || graveness(outcome) < graveness(before.outcome)) users.set(userId, { ...newest, signIns: 1 });
    else if (outcome === before.outcome) {
      const signIns = before.signIns + 1;
      users.set(userId, at > before.at ? { ...newest, signIns } : { ...before, signIns });
    }
  }

  return {
    add(signIn: TriedSignIn, difference: Difference): void {
      const { outcome, message } = difference;
      all.signIns += 1;
      all.users.add(signIn.userId);
      add(outcomes, outcome, signIn.userId);
      if (outcome !== 'unchanged') add(reasons, JSON.stringify([outcome, message]), signIn.userId);
      note(signIn, difference);
    },

    counts: (): Pick<FlowReplay, 'replayed' | 'outcomes' | 'reasons'> => ({
      replayed: shown(all),
      outcomes: replayOutcomes.map((outcome) => ({
        outcome,
        ...shown(outcomes.get(outcome) ?? { signIns: 0, users: new Set() }),
      })),
      reasons: [...reasons]
        .map(([key, count]) => {
          const [outcome, message]: [ReplayOutcome, string] = JSON.parse(key);
          return { outcome, message, ...shown(count) };
        })
        .sort((a, b) => b.users - a.users || graveness(a.outcome) - graveness(b.outcome))
        .slice(0, MOST_REASONS),
    }),

    /** The gravest outcomes first. */
    affected: (): AffectedUser[] =>
      [...users.values()].sort(
        (a, b) => graveness(a.outcome) - graveness(b.outcome) || (a.username < b.username ? -1 : 1),
      ),
  };
}
