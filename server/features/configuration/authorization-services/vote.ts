// Combines several verdicts. Pure. A policy that names a missing object is undecided, and must change no decision in
// either direction. So it only counts if both votes lead to the same result; otherwise its aggregate or permission is
// undecided too, which denies.
import type { DecisionStrategy } from '../../../contract/authorization-services.ts';

export type Vote = 'permit' | 'deny' | 'undecided';

const permits = (strategy: DecisionStrategy, permit: number, deny: number): boolean => {
  if (strategy === 'unanimous') return permit > 0 && deny === 0;
  return strategy === 'affirmative' ? permit > 0 : permit > deny;
};

/** Without any vote, the result is to deny. */
export function combinedVote(strategy: DecisionStrategy, votes: readonly Vote[]): Vote {
  const count = (wanted: Vote) => votes.filter((vote) => vote === wanted).length;
  const [permit, deny, undecided] = [count('permit'), count('deny'), count('undecided')];
  const best = permits(strategy, permit + undecided, deny);
  const worst = permits(strategy, permit, deny + undecided);
  if (best !== worst) return 'undecided';
  return best ? 'permit' : 'deny';
}

const opposite: Record<Vote, Vote> = { permit: 'deny', deny: 'permit', undecided: 'undecided' };
export const negatedVote = (vote: Vote): Vote => opposite[vote];
