// CSRF tokens of the server's forms, stored nowhere: an HMAC of the page's subject under the session cookie's value. The cookie
// is HttpOnly, so another site can't compute the token. The admin API's token is made here too; it travels in a header and in a
// cookie that scripts can read (features/operations/admin-access/surface.ts).
import { createHmac } from 'node:crypto';
import { newSecret, sameSecret } from './tokens.ts';

const SHOWN_MS = 15 * 60_000;

/** @param about the page's subject, for example an action and an object's id; {@link proofHolds} needs the same */
export function proofOf(cookie: string, about: readonly string[], at: Date): string {
  const ms = at.getTime();
  const mac = createHmac('sha256', cookie).update(JSON.stringify([...about, ms]));
  return `${ms}.${mac.digest('base64url')}`;
}

/** Whether the server showed the form to this session in the last 15 minutes, for this very subject. */
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

/**
 * A token that only this session accepts, so an attacker who plants a cookie can't make one.
 * @param session the session cookie's value; empty before sign-in
 */
export const newCsrfToken = (session: string): string => boundTo(session, newSecret());

/** Whether the CSRF token was made for this session; compared in constant time. */
export const isCsrfTokenOf = (session: string, token: string): boolean =>
  sameSecret(token, boundTo(session, token.split('.')[0] ?? ''));
