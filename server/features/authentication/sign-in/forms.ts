// The values by which forms of a sign-in are recognised, all derived from the token in its cookie.
import { sha256 } from '../../../crypto/tokens.ts';
import type { Form } from '../authenticators/authenticator.ts';

const digest = (of: string): string => sha256(of).toString('base64url');

/** The token against forgery, which ties a form to its sign-in. */
export const csrfOf = (token: string): string => digest(`csrf:${token}`);

/** Recognises a form that is sent again. */
export const digestOf = (token: string, form: Form): string => digest(`form:${token}:${JSON.stringify(form)}`);

/**
 * The token under which a sign-in continues after a form that proved something. The cookie alone is not enough to compute
 * it, and a double click computes the same one.
 */
export const nextToken = (nonce: string, token: string, form: Form): string =>
  digest(`next:${nonce}:${token}:${JSON.stringify(form)}`);
