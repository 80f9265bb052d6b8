// Users' credentials in Keycloak's form: password hashes and secrets of one-time codes. Pure. docs/keycloak.md.
import { z } from 'zod';
import type { CredentialDocument } from '../../../../contract/users.ts';
import { usablePhc } from '../../../../crypto/phc.ts';
import { type Credential, number, text } from './export-shape.ts';

const Secret = z.object({ value: text, salt: text });
const Data = z.object({
  algorithm: text,
  hashIterations: number,
  additionalParameters: z.record(z.string(), z.array(z.string())).nullish(),
  subType: text,
  digits: number,
  period: number,
  secretEncoding: text,
});

function readJson<S extends z.ZodType>(schema: S, json: string | undefined): z.output<S> | undefined {
  try {
    return schema.safeParse(JSON.parse(json ?? '{}')).data;
  } catch {
    return undefined;
  }
}

export type TranslatedCredential = { credential: CredentialDocument } | { why: string };

export function credentialOf(given: Credential): TranslatedCredential {
  const secret = readJson(Secret, given.secretData);
  const data = readJson(Data, given.credentialData);
  if (!secret || !data) return { why: 'can’t be read' };
  if (given.type === 'password') return passwordOf(given, secret, data);
  if (given.type === 'otp') return otpOf(given, secret, data);
  if (given.type?.startsWith('webauthn'))
    return { why: 'a passkey is bound to the other server: it is set up anew here' };
  if (given.type === 'recovery-authn-codes') return { why: 'recovery codes are made anew here' };
  return { why: `there is no credential ${given.type} here` };
}

const digests: Readonly<Record<string, string>> = {
  pbkdf2: 'pbkdf2-sha1',
  'pbkdf2-sha1': 'pbkdf2-sha1',
  'pbkdf2-sha256': 'pbkdf2-sha256',
  'pbkdf2-sha512': 'pbkdf2-sha512',
};

function phcOf({ value = '', salt = '' }: z.output<typeof Secret>, data: z.output<typeof Data>): string | undefined {
  const { algorithm = 'pbkdf2-sha256', hashIterations = 1, additionalParameters } = data;
  if (/^\$2[aby]\$/.test(value)) return value;
  if (digests[algorithm]) return `$${digests[algorithm]}$i=${hashIterations}$${plain(salt)}$${plain(value)}`;
  if (algorithm !== 'argon2') return undefined;
  const of = (name: string, usual: string) => additionalParameters?.[name]?.[0] ?? usual;
  const version = of('version', '1.3') === '1.3' ? 19 : 16;
  const [memory, threads] = [of('memory', '7168'), of('parallelism', '1')];
  return `$argon2${of('type', 'id')}$v=${version}$m=${memory},t=${hashIterations},p=${threads}$${plain(salt)}$${plain(value)}`;
}
const plain = (base64: string): string => base64.replace(/(?<!=)=+$/, '');

function passwordOf(
  { value, temporary }: Credential,
  secret: z.output<typeof Secret>,
  data: z.output<typeof Data>,
): TranslatedCredential {
  if (value !== undefined && secret.value === undefined)
    return { why: 'is in plain text, which only files that people write have: set it' };
  const phc = phcOf(secret, data);
  if (phc === undefined || !usablePhc(phc))
    return { why: `a hash by ${data.algorithm} with these parameters can’t be checked here: set a new password` };
  return { credential: { type: 'password', phc, ...(temporary && { temporary: true }) } };
}

const algorithms: Readonly<Record<string, 'SHA1' | 'SHA256' | 'SHA512'>> = {
  HmacSHA1: 'SHA1',
  HmacSHA256: 'SHA256',
  HmacSHA512: 'SHA512',
};

function otpOf(
  { userLabel }: Credential,
  { value = '' }: z.output<typeof Secret>,
  { subType = 'totp', algorithm = 'HmacSHA1', digits = 6, period = 30, secretEncoding }: z.output<typeof Data>,
): TranslatedCredential {
  const known = algorithms[algorithm];
  if (subType !== 'totp') return { why: 'counts its codes; those here go by time: it is set up anew' };
  if (value === '' || !known) return { why: 'can’t be read' };
  // The key is the text's bytes, unless `secretEncoding` says base32.
  const secret = secretEncoding === 'BASE32' ? value.toUpperCase() : base32(Buffer.from(value));
  const label = userLabel?.trim();
  return { credential: { type: 'otp', secret, algorithm: known, digits, period, ...(label && { label }) } };
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
/** RFC 4648 §6, without padding. */
export function base32(bytes: Buffer): string {
  let bits = '';
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0');
  return (bits.match(/.{1,5}/g) ?? []).map((five) => ALPHABET[Number.parseInt(five.padEnd(5, '0'), 2)]).join('');
}
