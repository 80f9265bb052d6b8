// Reads and checks a workload's token: the permitted algorithms and keys, the required claims. Pure but for the
// signature. Specification 5 rule 5; RFC 8725 §3.1 (algorithms), §3.8 (issuer and subject), §3.9 (audience).

import { compactVerify } from 'jose/jws/compact/verify';
import { importJWK } from 'jose/key/import';
import { z } from 'zod';
import { DAY_SECONDS } from '../contract/durations.ts';
import { ID_JAG_TYP, JWT_GRANT_TYP, TXN_TOKEN_TYP } from '../contract/token-types.ts';

const SKEW_SECONDS = 60;
const LONGEST_LIFE_SECONDS = DAY_SECONDS;
const MOST_KEYS = 100;

/** The keys of each algorithm; every other algorithm is refused, `none` and HMAC among them. */
const ALGORITHMS: ReadonlyMap<string, { kty: string; crv?: string }> = new Map([
  ['RS256', { kty: 'RSA' }],
  ['RS384', { kty: 'RSA' }],
  ['RS512', { kty: 'RSA' }],
  ['ES256', { kty: 'EC', crv: 'P-256' }],
  ['ES384', { kty: 'EC', crv: 'P-384' }],
  ['ES512', { kty: 'EC', crv: 'P-521' }],
]);

const optional = z.string().optional();
/** A public key of a JWK set; members of private keys are dropped. */
const ForeignKey = z.object({
  kty: z.string(),
  kid: optional,
  use: optional,
  alg: optional,
  /** Of an authority in a SPIFFE bundle. */
  x5c: z.array(z.string()).max(10).optional(),
  key_ops: z.array(z.string()).optional(),
  crv: optional,
  n: optional,
  e: optional,
  x: optional,
  y: optional,
});
export type ForeignKey = z.infer<typeof ForeignKey>;
/** A key that this server can't read doesn't invalidate the others. */
export const ForeignKeySet = z
  .object({ keys: z.array(z.unknown()).max(MOST_KEYS) })
  .transform(({ keys }) => keys.flatMap((key) => ForeignKey.safeParse(key).data ?? []));

const text = z.string().refine((s) => !s.includes('\0'));
// RFC 7515 §4.1.11: this server supports no extension, so a header that demands one is refused.
const Header = z.object({ alg: z.string(), kid: optional, typ: optional, crit: z.undefined().optional() });
/** Tokens of other purposes, which an issuer gives about its users. RFC 8725 §3.11. */
const OTHER_PURPOSES: ReadonlySet<string> = new Set([
  ID_JAG_TYP,
  JWT_GRANT_TYP,
  TXN_TOKEN_TYP,
  'logout+jwt',
  'secevent+jwt',
  'dpop+jwt',
]);
const Claims = z.object({
  /** A JWT-SVID may lack it: its subject names the trust domain that issued it (JWT-SVID §3). */
  iss: text.optional(),
  sub: text,
  aud: z.union([text.transform((aud) => [aud]), z.array(text).max(100)]),
  exp: z.number(),
  iat: z.number(),
  nbf: z.number().optional(),
  jti: text.optional(),
});

/** A token's claims before verification. */
export interface Presented {
  jwt: string;
  alg: string;
  kid: string | undefined;
  typ: string | undefined;
  issuer: string;
  subject: string;
  audiences: readonly string[];
  exp: number;
  iat: number;
  nbf: number | undefined;
  jti: string | undefined;
}
export type Reading = { ok: true; token: Presented } | { ok: false; reason: string; issuer?: string; subject?: string };

const part = (jwt: string, i: number): unknown => {
  try {
    return JSON.parse(Buffer.from(jwt.split('.')[i] ?? '', 'base64url').toString());
  } catch {
    return undefined;
  }
};
/** A claim for the audit log. The token is unverified, so the value can be anything. */
const claimed = (payload: unknown, name: 'iss' | 'sub'): string | undefined => {
  const value: unknown = Object(payload)[name];
  return typeof value === 'string' ? value.replaceAll('\0', '').slice(0, 1024) : undefined;
};

/** The trust domain of a SPIFFE ID (SPIFFE-ID §2), such as `spiffe://example.org`. */
export const trustDomainOf = (subject: string): string | undefined =>
  /^(spiffe:\/\/[a-z0-9._-]{1,255})\/[A-Za-z0-9._/-]+$/.exec(subject)?.[1];

/** Reads an unverified token. A token with another form, or a refused algorithm, has no claims. */
export function readToken(jwt: string): Reading {
  const header = Header.safeParse(part(jwt, 0));
  const payload = part(jwt, 1);
  const issuer = claimed(payload, 'iss');
  const subject = claimed(payload, 'sub');
  const refuse = (reason: string): Reading => ({
    ok: false,
    reason,
    ...(issuer === undefined ? {} : { issuer }),
    ...(subject === undefined ? {} : { subject }),
  });
  if (!header.success || jwt.split('.').length !== 3) return refuse('not a JWT');
  const { alg, kid, typ } = header.data;
  if (OTHER_PURPOSES.has((typ ?? '').toLowerCase().replace(/^application\//, '')))
    return refuse('it is a token of another purpose');
  if (!ALGORITHMS.has(alg)) return refuse(`the algorithm ${alg.slice(0, 20)} is not allowed`);
  const claims = Claims.safeParse(payload);
  if (!claims.success) return refuse(`the claim ${claims.error.issues[0]?.path.join('.')} is missing or malformed`);
  const { iss = trustDomainOf(claims.data.sub), sub, aud, ...rest } = claims.data;
  if (iss === undefined) return refuse('the claim iss is missing');
  const { exp, iat, nbf, jti } = rest;
  return { ok: true, token: { jwt, alg, kid, typ, issuer: iss, subject: sub, audiences: aud, exp, iat, nbf, jti } };
}

/** Why the token's times are invalid; undefined: they are valid. */
export function timeFault({ exp, iat, nbf }: Presented, now: Date): string | undefined {
  const at = now.getTime() / 1000;
  if (exp <= at - SKEW_SECONDS) return 'it has expired';
  if (iat > at + SKEW_SECONDS) return 'it was issued in the future';
  if (nbf !== undefined && nbf > at + SKEW_SECONDS) return 'it is not valid yet';
  if (exp <= iat) return 'it expires before it was issued';
  return exp - iat > LONGEST_LIFE_SECONDS ? 'its lifetime is longer than a day' : undefined;
}

/** The keys that may have signed the token: of its algorithm's type, for signatures, and with its `kid` if it has one. */
export const candidateKeys = (
  keys: readonly ForeignKey[],
  { alg, kid }: Pick<Presented, 'alg' | 'kid'>,
): ForeignKey[] => {
  const wanted = ALGORITHMS.get(alg);
  return keys.filter(
    (key) =>
      key.kty === wanted?.kty &&
      (wanted.crv === undefined || key.crv === wanted.crv) &&
      (kid === undefined || key.kid === kid) &&
      (key.alg === undefined || key.alg === alg) &&
      // `jwt-svid`: a key in a SPIFFE bundle (SPIFFE Trust Domain and Bundle §4.2.2).
      (key.use === undefined || key.use === 'sig' || key.use === 'jwt-svid') &&
      (key.key_ops === undefined || key.key_ops.includes('verify')),
  );
};

/** Whether one of the keys made the signature. */
export async function signedBy(keys: readonly ForeignKey[], { jwt, alg }: Presented): Promise<boolean> {
  for (const { kty, crv, n, e, x, y } of keys) {
    try {
      const jwk = kty === 'RSA' ? { kty, n: n ?? '', e: e ?? '' } : { kty, crv: crv ?? '', x: x ?? '', y: y ?? '' };
      await compactVerify(jwt, await importJWK(jwk, alg), { algorithms: [alg] });
      return true;
    } catch {
      // not this one: a wrong signature, or a key that jose refuses (too short)
    }
  }
  return false;
}
