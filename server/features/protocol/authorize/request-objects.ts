// Owns: authorization requests as a JWT signed by the client, encrypted or not: whether the JWT is the client's, for this realm, and not too old.
// Does not own: the client's keys (features/protocol/client-authentication), the checks of its parameters (checks.ts).
// Implements: RFC 9101 (JAR), OpenID Connect Core §6.1, FAPI 2.0 Message Signing §5.3.1; by reference: pushed.ts, request-uris.ts.
import type { KeyObject } from 'node:crypto';
import type { CompactVerifyResult } from 'jose';
import { decodeProtectedHeader } from 'jose/decode/protected_header';
import { createLocalJWKSet } from 'jose/jwks/local';
import { compactVerify } from 'jose/jws/compact/verify';
import { z } from 'zod';
import { ContentEncryption } from '../../../contract/algorithms.ts';
import type { Sql } from '../../../db/sql.ts';
import { AUTHORIZATION_DETAILS } from '../../../domain/authorization-details.ts';
import { singleUseProof, spendProof } from '../../../domain/spent-proofs.ts';
import { parseForm } from '../../../http/form.ts';
import { jsonFault } from '../../../http/json-body.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { WithClientKeys } from '../../configuration/clients/keys.ts';
import { algorithmsFor, MESSAGE_SIGNING } from '../../configuration/clients/profile.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import type { RequestParameters } from './requests.ts';

const SKEW_SECONDS = 60;
/** A request object is meant for one request; with a long life, others could use it again. */
const LONGEST_SECONDS = 3_600;
/** RFC 9101 §10.8: a JWT with another type is refused, even if the client signed it. */
const TYPE = /^(?:(?:application\/)?oauth-authz-req\+jwt|JWT)$/i;

const Claims = z.looseObject({
  iss: z.string(),
  aud: z.union([z.string(), z.array(z.string()).min(1).max(20)]),
  exp: z.number().optional(),
  nbf: z.number().optional(),
  iat: z.number().optional(),
  client_id: z.string().optional(),
  jti: z.string().min(1).max(500).optional(),
});
type Claims = z.infer<typeof Claims>;
/** Claims of the JWT itself, which are no request parameters. */
const NO_PARAMETERS = new Set(['iss', 'aud', 'exp', 'nbf', 'iat', 'jti', 'sub']);

const invalid = (description: string, cause?: unknown) =>
  new OAuthError('invalid_request_object', description, { cause });

/** A compact JWE has five parts (RFC 7516 §7.1), a compact JWS three. */
const isEncrypted = (jwt: string): boolean => jwt.split('.').length === 5;

function kidOf(jwe: string): string | undefined {
  try {
    return decodeProtectedHeader(jwe).kid;
  } catch {
    return undefined;
  }
}

function json(bytes: Uint8Array): unknown {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(bytes).toString());
    return jsonFault(parsed) === undefined ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function contentOf({ payload, protectedHeader }: CompactVerifyResult): Claims {
  if (!TYPE.test(protectedHeader.typ ?? 'JWT')) throw invalid('typ of the request object must be oauth-authz-req+jwt');
  const claims = Claims.safeParse(json(payload));
  if (!claims.success) {
    const [issue] = claims.error.issues;
    throw invalid(`The request object needs ${String(issue?.path[0] ?? 'claims')} as RFC 9101 has it`);
  }
  return claims.data;
}

/** The request object's claims as query parameters. */
function parametersIn(claims: Claims): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(claims)) {
    if (NO_PARAMETERS.has(name)) continue;
    // A list of details is one parameter (RFC 9396 §2), a list of resources several.
    for (const one of name === AUTHORIZATION_DETAILS ? [JSON.stringify(value)] : [value].flat()) {
      const text = typeof one === 'object' && one !== null ? JSON.stringify(one) : one;
      if (typeof text !== 'string' && typeof text !== 'number')
        throw invalid(`${name} in the request object is not a parameter`);
      parameters.append(name, String(text));
    }
  }
  return parameters;
}

export function createRequestObjects({
  sql,
  withKeys,
  keys,
  settings,
  now,
}: {
  sql: Sql;
  withKeys: WithClientKeys;
  keys: { decryptingRequests(realm: string): Promise<{ keyId: string; privateKey: KeyObject }[]> };
  settings: { issuer(realm: string): Promise<string> };
  now: () => Date;
}) {
  async function verified(client: ClientView, jwt: string): Promise<Claims> {
    const { requestObjectSigningAlg: pinned } = client;
    const algorithms = pinned === null ? algorithmsFor(client) : [pinned];
    const signed = await withKeys(client, (own) =>
      compactVerify(jwt, createLocalJWKSet(own), { algorithms: [...algorithms] }),
    ).catch((cause: unknown) => {
      throw invalid('The signature of the request object does not verify by a key of the application', cause);
    });
    return contentOf(signed);
  }

  /** The object that the client signed, out of the one that it encrypted; undefined: it can't be read. */
  async function decrypted(realm: string, { encryption }: ClientView, jwe: string): Promise<string | undefined> {
    const alg = encryption?.requestObjectEncryptionAlg ?? null;
    if (alg === null) return undefined;
    const enc = encryption?.requestObjectEncryptionEnc ?? null;
    const contents = enc === null ? ContentEncryption.options : [enc];
    const [own, { decryptBy }] = await Promise.all([keys.decryptingRequests(realm), import('../../../crypto/jwe.ts')]);
    // A key that the object names is the only one to try: strangers can send objects, too.
    const kid = kidOf(jwe);
    const fitting = own.filter(({ keyId }) => kid === undefined || kid === keyId).map(({ privateKey }) => privateKey);
    return decryptBy(fitting, jwe, { algorithms: [alg], contents });
  }

  /** The request with its object decrypted; one that can't be read stays, for {@link open} to refuse. */
  async function readable(
    realm: string,
    client: ClientView | undefined,
    given: RequestParameters,
  ): Promise<RequestParameters> {
    const jwt = given.get('request');
    if (jwt === undefined || !client?.enabled || !isEncrypted(jwt)) return given;
    const signed = await decrypted(realm, client, jwt);
    if (signed === undefined || isEncrypted(signed)) return given;
    const parameters = new URLSearchParams(given.text);
    parameters.set('request', signed);
    // The text stays encrypted: a sign-in stores it, and addresses contain it.
    return { ...given, ...parseForm(parameters.toString()), text: given.text };
  }

  function refuseOldOrDistant({ exp, nbf, iat = 0 }: Claims, { fetched = false }: RequestParameters): void {
    const at = now().getTime() / 1000;
    if (Math.max(nbf ?? 0, iat) > at + SKEW_SECONDS) throw invalid('The request object is of a later time');
    if (exp === undefined) {
      // A client can remove an object that the server fetches, but an object that it sent stays valid, so that one must
      // expire.
      if (fetched) return;
      throw invalid('The request object needs exp as RFC 9101 has it');
    }
    if (exp <= at - SKEW_SECONDS) throw invalid('The request object has expired');
    if (exp > at + LONGEST_SECONDS + SKEW_SECONDS) throw invalid('The request object may live an hour at most');
  }

  /** FAPI 2.0 Message Signing §5.3.1 */
  function refuseLoose({ exp = Infinity, nbf }: Claims): void {
    if (nbf === undefined) throw invalid('The request object needs nbf');
    if (nbf < now().getTime() / 1000 - LONGEST_SECONDS) throw invalid('nbf of the request object is over an hour ago');
    if (exp > nbf + LONGEST_SECONDS) throw invalid('exp of the request object may be an hour after its nbf at most');
  }

  /** CIBA Core §7.1.1: a signed request of the backchannel has an id, and counts once. */
  async function spend(realm: string, clientId: string, { jti, iat, exp = 0 }: Claims): Promise<void> {
    if (jti === undefined || iat === undefined) throw invalid('The request object needs jti and iat');
    const until = new Date((exp + SKEW_SECONDS) * 1000);
    if (!(await spendProof(sql, realm, singleUseProof('backchannel-request', `${clientId} ${jti}`, until))))
      throw invalid('The request object was used before');
  }

  return {
    readable,

    /**
     * The parameters of the request object alone, without those beside it. A request without an object stays unchanged.
     * @param first the application sent the request just now; false: the browser returns from a sign-in, and the object
     * may have expired meanwhile
     * @throws OAuthError `invalid_request_object`, `request_not_supported`
     */
    async open(
      realm: string,
      client: ClientView,
      asked: RequestParameters,
      { first, backchannel = false }: { first: boolean; backchannel?: boolean },
    ): Promise<RequestParameters> {
      const given = await readable(realm, client, asked);
      const jwt = given.get('request');
      if (jwt === undefined) return given;
      if (client.jwks === null && client.jwksUri === null)
        throw new OAuthError('request_not_supported', 'Request objects are for applications with registered keys');
      if (isEncrypted(jwt)) throw invalid('The request object can’t be decrypted');
      const claims = await verified(client, jwt);
      const { clientId } = client;
      if (claims.client_id === undefined && !backchannel)
        throw invalid('The request object needs client_id as RFC 9101 has it');
      if (claims.iss !== clientId || (claims.client_id ?? clientId) !== clientId)
        throw invalid('iss and client_id of the request object must be the application');
      const audience = [claims.aud].flat();
      const alone = audience.length === 1 || client.profile === MESSAGE_SIGNING;
      if (!alone || !audience.includes(await settings.issuer(realm)))
        throw invalid('aud of the request object must be the issuer alone');
      // With the client's id as its subject, it could serve as a client assertion (RFC 9101 §10.8).
      if (claims.sub === clientId) throw invalid('sub of the request object must not be the application');
      if (first) refuseOldOrDistant(claims, given);
      if (first && (backchannel || client.profile === MESSAGE_SIGNING)) refuseLoose(claims);
      if (backchannel) await spend(realm, clientId, claims);
      // A fetched object is stored beside its address.
      const two = first && !given.fetched && given.get('request_uri') !== undefined;
      if ('request' in claims || 'request_uri' in claims || two)
        throw invalid('A request object holds all of its request');
      return { ...parseForm(parametersIn(claims).toString()), signed: true };
    },
  };
}
export type RequestObjects = ReturnType<typeof createRequestObjects>;
