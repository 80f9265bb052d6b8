// What a sign-on needs next: pure. SAML 2.0 Core §3.4.1 (ForceAuthn, IsPassive), §3.4.1.4; as features/protocol/authorize decides for OAuth.
import type { Kept } from './kept.ts';
import { type Failed, failures } from './vocabulary.ts';

export interface Known {
  session: { impersonator: object | null } | undefined;
  /** What the session lacks of what is asked for now. */
  missing: string | undefined;
  /** It was begun or renewed for this very request. */
  fresh: boolean;
  /** The request names a person, and it is somebody else. */
  somebodyElse: boolean;
  /** The person has to agree, and hasn't. */
  toAgree: boolean;
}
export type Step =
  | { do: 'sign-in'; forced: boolean }
  | { do: 'consent' }
  | { do: 'answer' }
  | { do: 'refuse'; because: Failed };

const refuse = (because: Failed): Step => ({ do: 'refuse', because });

type Request = Pick<Kept, 'forced' | 'passive' | 'level'>;

export function decide(
  { forced, passive, level }: Request,
  { session, missing, fresh, somebodyElse, toAgree }: Known,
): Step {
  // Who acts for somebody proves nothing of them, and can't agree for them.
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
