// What a sign-in's forms are recognised by, all of it derived from the token in its cookie.
import { sha256 } from '../../../crypto/tokens.ts';
import type { Form } from '../authenticators/authenticator.ts';

const digest = (of: string): string => sha256(of).toString('base64url');

/** Which sign-in a form is of. */
export const csrfOf = (token: string): string => digest(`csrf:${token}`);

/** The same form again. */
export const digestOf = (token: string, form: Form): string => digest(`form:${token}:${JSON.stringify(form)}`);

/**
 * The token under which a sign-in goes on by that form, which proved something: who has the cookie alone can't say it, and who
 * clicks twice is led there, too.
 */
export const nextToken = (nonce: string, token: string, form: Form): string =>
  digest(`next:${nonce}:${token}:${JSON.stringify(form)}`);
