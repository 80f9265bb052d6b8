// A person's authenticator app: the key that a page shows, and its codes. By a library of its own, not by the server's.
import { Secret, TOTP } from 'otpauth';
import { expect } from 'vitest';
import type { AccountCall } from './account-api.ts';
import type { ShownPage } from './person.ts';

export const secretOn = ({ text }: Pick<ShownPage, 'text'>): string =>
  (/<code class="secret"[^>]*>([^<]+)</.exec(text)?.[1] ?? '').replace(/\s/g, '');

export const codeAt = (secret: string, moment: number = Date.now()): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: moment });

/** Sets one up by the account API. @param moment milliseconds. @returns the code of the moment; the first is used up */
export async function setUpApp(me: AccountCall, moment: () => number): Promise<() => string> {
  const { ticket, secret } = Object((await me('POST', 'credentials/otp/start')).body);
  const code = () => codeAt(secret, moment());
  expect((await me('POST', 'credentials/otp', { ticket, code: code() })).status).toBe(201);
  return code;
}
