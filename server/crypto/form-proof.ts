// CSRF of our pages: a form's token against cross-site posts, without any store: an HMAC of what the page was about under
// the session cookie's value. The browser alone has that value (HttpOnly), so nobody else can make one. The admin API's
// token goes by a header and a cookie that scripts can read (features/operations/admin-access/surface.ts), and is made here too.
import { createHmac } from 'node:crypto';
import { newSecret, sameSecret } from './tokens.ts';

const SHOWN_MS = 15 * 60_000;

export function proofOf(cookie: string, about: readonly string[], at: Date): string {
  const ms = at.getTime();
  const mac = createHmac('sha256', cookie).update(JSON.stringify([...about, ms]));
  return `${ms}.${mac.digest('base64url')}`;
}

/** Whether the form was shown to this session a short while ago, about just this. */
export function proofHolds(
  proof: string | undefined,
  cookie: string | undefined,
  about: readonly string[],
  now: Date,
): boolean {
  const ms = Number(/^(\d{1,15})\./.exec(proof ?? '')?.[1] ?? Number.NaN);
  if (proof === undefined || !cookie || Number.isNaN(ms)) return false;
  const age = now.getTime() - ms;
  return age >= 0 && age <= SHOWN_MS && sameSecret(proof, proofOf(cookie, about, new Date(ms)));
}

const boundTo = (session: string, nonce: string): string =>
  `${nonce}.${createHmac('sha256', session).update(`csrf ${nonce}`).digest('base64url')}`;

/** A token for this session alone: whoever can plant cookies can't make one. `session`: its cookie's value, or nothing */
export const newCsrfToken = (session: string): string => boundTo(session, newSecret());

export const isCsrfTokenOf = (session: string, token: string): boolean =>
  sameSecret(token, boundTo(session, token.split('.')[0] ?? ''));
