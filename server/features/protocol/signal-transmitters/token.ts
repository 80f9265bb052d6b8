// Reads and checks a security event token of a trusted transmitter: its type, issuer, audience, signature and time; then the events and
// their subjects. RFC 8417 §4; RFC 8935 §2.4; SSF 1.0 §4.1, §9.
import type { JSONWebKeySet } from 'jose';
import { decodeProtectedHeader } from 'jose/decode/protected_header';
import { createLocalJWKSet } from 'jose/jwks/local';
import { compactVerify } from 'jose/jws/compact/verify';
import { decodeJwt } from 'jose/jwt/decode';
import { z } from 'zod';
import { ClientAlgorithm } from '../../../contract/algorithms.ts';
import { DAY_SECONDS } from '../../../contract/durations.ts';
import { type Signal, STREAM_UPDATED, signalOfUri, VERIFICATION } from '../../../contract/signals.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { Outbound } from '../../../http/outbound.ts';
import { createRemoteDocuments } from '../../../http/remote-documents.ts';

/** The reasons by which a receiver refuses a token: RFC 8935 §2.4. */
export type RefusalCode =
  | 'invalid_request'
  | 'invalid_key'
  | 'invalid_issuer'
  | 'invalid_audience'
  | 'authentication_failed';
export class SetRefusal extends Error {
  readonly err: RefusalCode;
  constructor(err: RefusalCode, description: string) {
    super(description);
    this.err = err;
  }
}

const SKEW_SECONDS = 300;
/** Tokens are remembered for longer, so that an old one is refused by its age and a younger one by its id. */
export const LONGEST_SECONDS = 7 * DAY_SECONDS;
const MOST_BYTES = 32 * 1024;

const text = z
  .string()
  .max(2048)
  .refine((s) => !s.includes('\0'));
const Claims = z.object({
  iss: text,
  aud: z.union([text.transform((aud) => [aud]), z.array(text).max(100)]),
  iat: z.number(),
  jti: text.min(1),
  sub_id: z.unknown().optional(),
  events: z.record(z.string(), z.record(z.string(), z.unknown())),
});

const Simple = z.union([
  z.object({ format: z.literal('iss_sub'), iss: text, sub: text }),
  z.object({ format: z.literal('opaque'), id: text }),
  z.object({ format: z.literal('email'), email: text }),
]);
export type SimpleSubject = z.infer<typeof Simple>;
const Subject = z.union([
  Simple,
  z.object({ format: z.literal('complex'), user: Simple }).transform(({ user }) => user),
]);
/** The drafts' form, which RISC transmitters still use: `subject_type` with a hyphen. */
const Legacy = z.object({ subject_type: z.string() }).loose();

function subjectOf(value: unknown): SimpleSubject | undefined {
  const legacy = Legacy.safeParse(value).data;
  const { subject_type: type, ...rest } = legacy ?? { subject_type: undefined };
  return Subject.safeParse(legacy ? { ...rest, format: type?.replaceAll('-', '_') } : value).data;
}

/** An event of a verified token. */
export interface ReceivedEvent {
  /** undefined: an event about the stream itself, or one that this server doesn't know. */
  signal: Signal | undefined;
  uri: string;
  subject: SimpleSubject | undefined;
}
export interface VerifiedSet {
  jti: string;
  events: ReceivedEvent[];
  /** It only says that the stream works. */
  isVerification: boolean;
}
export interface Source {
  issuer: string;
  jwksUri: string | null;
  audience: string;
}

const https = z.url({ protocol: /^https$/ });
const Metadata = z.object({
  issuer: z.string(),
  jwks_uri: https,
  configuration_endpoint: https.optional(),
});
export type TransmitterMetadata = z.infer<typeof Metadata>;
const KeySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(100) });

export function createSetVerification({ outbound, now }: { outbound: Pick<Outbound, 'fetch'>; now: () => Date }) {
  const documents = createRemoteDocuments({ outbound, now });

  /**
   * SSF 1.0 §7.2: between host and path; some transmitters append it. @param again whether a document that was read a while ago is read
   * again @throws SetRefusal if it isn't the issuer's
   */
  async function metadataOf(issuer: string, { again = false } = {}): Promise<TransmitterMetadata> {
    const read = async (uri: string) => (again ? await documents.renewed(uri) : undefined) ?? documents.get(uri);
    const { origin, pathname } = new URL(issuer);
    const name = '/.well-known/ssf-configuration';
    const path = pathname.replace(/\/$/, '');
    const first = `${origin}${name}${path}`;
    const found = await read(first).catch((error: unknown) => {
      if (path === '') throw error;
      return read(`${origin}${path}${name}`);
    });
    const metadata = Metadata.safeParse(found).data;
    // Otherwise any host could speak for any issuer.
    if (metadata?.issuer !== issuer)
      throw new SetRefusal('invalid_key', 'The issuer’s document does not name its keys');
    return metadata;
  }
  const keysAt = async ({ issuer, jwksUri }: Source): Promise<string> => jwksUri ?? (await metadataOf(issuer)).jwks_uri;

  async function isSigned(jwt: string, source: Source): Promise<boolean> {
    const uri = await keysAt(source);
    const by = async (keys: unknown): Promise<boolean> => {
      const parsed = KeySet.safeParse(keys);
      if (!parsed.success) return false;
      const set = createLocalJWKSet(parsed.data as JSONWebKeySet);
      return compactVerify(jwt, set, { algorithms: ClientAlgorithm.options }).then(
        () => true,
        () => false,
      );
    };
    if (await by(await documents.get(uri))) return true;
    // the transmitter may have a new key
    const renewed = await documents.renewed(uri);
    return renewed !== undefined && by(renewed);
  }

  return {
    metadataOf,

    /** @throws SetRefusal, or OAuthError `temporarily_unavailable` */
    async verify(jwt: string, source: Source): Promise<VerifiedSet> {
      const invalid = (why: string) => new SetRefusal('invalid_request', why);
      if (jwt.length > MOST_BYTES) throw invalid('The token is too long');
      let header: ReturnType<typeof decodeProtectedHeader>;
      let payload: unknown;
      try {
        header = decodeProtectedHeader(jwt);
        payload = decodeJwt(jwt);
      } catch {
        throw invalid('The body is no signed token');
      }
      const type = String(header.typ ?? '')
        .toLowerCase()
        .replace(/^application\//, '');
      if (type !== 'secevent+jwt') throw invalid('The token’s type is not secevent+jwt');
      const claims = Claims.safeParse(payload);
      if (!claims.success) throw invalid(`The claim ${claims.error.issues[0]?.path.join('.')} is missing or malformed`);
      const { iss, aud, iat, jti, sub_id, events } = claims.data;
      if (iss !== source.issuer) throw new SetRefusal('invalid_issuer', 'The issuer is not the one expected here');
      if (!aud.includes(source.audience))
        throw new SetRefusal('invalid_audience', 'The token is not for this receiver');
      const signed = await isSigned(jwt, source).catch((error: unknown) => {
        if (error instanceof SetRefusal) throw error;
        // The transmitter sends the token again, when the keys may be had.
        throw new OAuthError('temporarily_unavailable', 'The issuer’s keys can’t be fetched now', { cause: error });
      });
      if (!signed) throw new SetRefusal('invalid_key', 'No key of the issuer made the signature');
      const at = now().getTime() / 1000;
      if (iat > at + SKEW_SECONDS) throw invalid('The token was issued in the future');
      if (iat < at - LONGEST_SECONDS) throw invalid('The token is too old');
      const about = Object.entries(events);
      if (about.length === 0 || about.length > 10) throw invalid('The token has no event, or too many');
      return {
        jti,
        events: about.map(([uri, body]) => ({
          signal: signalOfUri.get(uri),
          uri,
          subject: subjectOf(sub_id ?? body.subject),
        })),
        isVerification: about.every(([uri]) => uri === VERIFICATION || uri === STREAM_UPDATED),
      };
    },
  };
}
export type SetVerification = ReturnType<typeof createSetVerification>;
