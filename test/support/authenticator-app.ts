// A person's authenticator app: the key that a page shows, and its codes. By a library of its own, not by the server's.
import { Secret, TOTP } from 'otpauth';
import type { Shown } from './person.ts';

export const secretOn = ({ text }: Pick<Shown, 'text'>): string =>
  (/<code class="secret"[^>]*>([^<]+)</.exec(text)?.[1] ?? '').replace(/\s/g, '');

export const codeAt = (secret: string, moment: number = Date.now()): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: moment });
