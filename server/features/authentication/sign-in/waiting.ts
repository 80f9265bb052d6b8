// The mark of a waiting page. It changes when the browser should load another page.
import { sha256 } from '../../../crypto/tokens.ts';
import type { StepPage } from '../authenticators/authenticator.ts';
import { idOf, isPage, type NextStep } from './judge.ts';
import type { SignInState } from './state.ts';

/** undefined: the page doesn't wait. */
export function markOf(
  state: SignInState,
  nextStep: NextStep,
  { title, keep, refreshSeconds }: StepPage,
): string | undefined {
  if (refreshSeconds === undefined) return undefined;
  if (!isPage(nextStep) || (state.is !== 'unknown' && state.is !== 'known')) return undefined;
  const id = idOf(nextStep);
  // PostgreSQL returns the keys of jsonb in an order of its own.
  const kept = Object.entries(state.kept[id] ?? keep ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const shown = [state.round, id, title, kept, state.complaint?.message];
  return sha256(JSON.stringify(shown)).toString('base64url').slice(0, 22);
}
