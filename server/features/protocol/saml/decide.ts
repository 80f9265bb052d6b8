// Decides the next step of a sign-on: pure. SAML 2.0 Core §3.4.1 (ForceAuthn, IsPassive), §3.4.1.4.
// features/protocol/authorize does the same for OAuth.
import type { KeptLogin } from './kept.ts';
import { type Failed, failures } from './vocabulary.ts';

export interface SamlDecisionFacts {
  session: { impersonator: object | null } | undefined;
  /** The demand that the session doesn't meet now. */
  missing: string | undefined;
  /** The session was begun or renewed for this request. */
  fresh: boolean;
  /** The request names a user, and the session belongs to another one. */
  somebodyElse: boolean;
  /** The user has to consent, and hasn't. */
  toAgree: boolean;
}
export type Step =
  | { do: 'sign-in'; forced: boolean }
  | { do: 'consent' }
  | { do: 'answer' }
  | { do: 'refuse'; because: Failed };

const refuse = (because: Failed): Step => ({ do: 'refuse', because });

type Request = Pick<KeptLogin, 'forced' | 'passive' | 'level'>;

export function samlDecision(
  { forced, passive, level }: Request,
  { session, missing, fresh, somebodyElse, toAgree }: SamlDecisionFacts,
): Step {
  // An impersonated session counts no factor of the user, and its administrator can't agree for them.
  if (session?.impersonator) {
    if (somebodyElse) return refuse(failures.otherPerson);
    return forced || level > 0 || toAgree ? refuse(failures.acting) : { do: 'answer' };
  }
  const again = session !== undefined && ((forced && !fresh) || somebodyElse);
  const enough = session && !again && (fresh || missing === undefined);
  if (enough && !toAgree) return { do: 'answer' };
  if (passive) return refuse(failures.noPassive);
  if (enough) return { do: 'consent' };
  if (fresh && somebodyElse) return refuse(failures.otherPerson);
  return { do: 'sign-in', forced: again };
}
