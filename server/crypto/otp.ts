// Time-based one-time passwords (RFC 6238): makes secrets, seals them, checks codes. The credential's row notes the last code
// used (last_counter).
import { Secret, TOTP } from 'otpauth';
import type { Seal } from './seal.ts';

export interface OtpSecret {
  /** Base64 of the sealed base32 secret. */
  sealed: string;
  algorithm?: string | undefined;
  digits?: number | undefined;
  period?: number | undefined;
}

const SECRET_BYTES = 20;
/** One time step before and after the current one: clocks differ, and people type slowly. */
const WINDOW = 1;
/** Parameters that every authenticator application understands; the period is in seconds. */
export const OTP_DEFAULTS = { algorithm: 'SHA1', digits: 6, period: 30 } as const;

/** Binds the sealed secret to its row. */
export const otpContext = (realm: string, credentialId: string): string => `credential:${realm}:${credentialId}`;

/** A new secret of 160 random bits in base32. */
export const newOtpSecret = (): string => new Secret({ size: SECRET_BYTES }).base32;

/** @returns Base64 of the sealed secret, for the credential's row */
export const sealOtp = (seal: Seal, realm: string, credentialId: string, base32: string): string =>
  seal.seal(base32, otpContext(realm, credentialId)).toString('base64');

const totp = (base32: string, { algorithm, digits, period }: Omit<OtpSecret, 'sealed'> = {}) =>
  new TOTP({
    secret: Secret.fromBase32(base32),
    algorithm: algorithm ?? OTP_DEFAULTS.algorithm,
    digits: digits ?? OTP_DEFAULTS.digits,
    period: period ?? OTP_DEFAULTS.period,
  });

/** The time step that the code belongs to; undefined if the secret has no such code now. Spaces in the code are ignored. */
export function otpCounter(
  base32: string,
  code: string,
  at: Date,
  parameters: Omit<OtpSecret, 'sealed'> = {},
): number | undefined {
  const otp = totp(base32, parameters);
  const delta = otp.validate({ token: code.replace(/\s/g, ''), timestamp: at.getTime(), window: WINDOW });
  return delta === null ? undefined : otp.counter({ timestamp: at.getTime() }) + delta;
}

/** @returns the base32 secret @throws Error if the value was sealed for another row or under an unknown master key */
export const openOtp = (seal: Seal, realm: string, credentialId: string, secret: OtpSecret): string =>
  seal.open(Buffer.from(secret.sealed, 'base64'), otpContext(realm, credentialId)).toString();

/** The otpauth: address that an authenticator application scans. */
export function otpAddress(base32: string, { issuer, account }: { issuer: string; account: string }): string {
  return new TOTP({ secret: Secret.fromBase32(base32), issuer, label: account, ...OTP_DEFAULTS }).toString();
}
