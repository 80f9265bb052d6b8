// Owns: authenticating the client of an OAuth request: by a secret, private_key_jwt, a certificate, a workload, or none.
// Does not own: the client's permissions (features/protocol/token), its row (features/configuration/clients).
// Implements: RFC 6749 §2.3, RFC 7523 §3, RFC 8705 §2; specification 5; every refusal is the same invalid_client.
import { timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  SPIFFE_X509,
  usesCertificate,
  usesSecret,
  usesWorkloadToken,
} from '../../../contract/client-authentication.ts';
import type { Passwords } from '../../../crypto/passwords.ts';
import { sha256 } from '../../../crypto/tokens.ts';
import type { ClientCertificate } from '../../../http/client-certificate.ts';
import type { Form } from '../../../http/form.ts';
import { oauthErrorOf } from '../../../http/oauth.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { ClientSecret, ClientView, Overview } from '../../configuration/clients/view.ts';
import type { Assertions } from './assertion.ts';
import type { CertificateChecks } from './certificate.ts';
import { type FederatedAssertion, nameIn, type Presented, presentedBy } from './presented.ts';
import { createSlowSecrets } from './slow-secrets.ts';
import type { WorkloadChecks, WorkloadProof } from './workload.ts';
import { createWrongSecrets } from './wrong-secrets.ts';

/** Compared in place of a missing secret, so that every comparison takes place. */
const NO_SECRET = Buffer.alloc(32);
/** The present secret, and for a while the previous one. */
const MOST_SECRETS = 2;
/**
 * A workload's token that proves no client is answered this long after the request arrived, so that the time doesn't reveal
 * which clients and workload identities exist.
 */
const FAILURE_MS = 2_000;
/** The share of that time for fetching the issuer's keys. */
const KEYS_SHARE = 0.8;

export interface ClientRequest {
  realm: string;
  authorization: string | undefined;
  form: Form;
  /** The request's address. */
  address: string;
  /** The certificate of the request's connection. */
  certificate: ClientCertificate | undefined;
}
export interface Authenticated {
  client: ClientView;
  /** The client authenticated; a public client only sends its id. */
  confidential: boolean;
  /** The workload identity that proved the client; undefined: another credential did. */
  workload?: AuthenticatedBy | undefined;
}
export type AuthenticatedBy = Pick<WorkloadProof, 'name' | 'adminAccess'>;
/** For the events of a request: which workload identity proved the client. */
export const workloadOf = ({ workload }: Authenticated): { workloadIdentity?: string } =>
  workload ? { workloadIdentity: workload.name } : {};

export type Verdict = { fault: string } | { fault?: undefined; workload?: WorkloadProof };
/** A client with the verdict on it. */
export interface Judged {
  client?: ClientView | undefined;
  verdict: Verdict;
}
const verdictOf = (fault: string | undefined): Verdict => (fault === undefined ? {} : { fault });

function strongHolds(mine: readonly ClientSecret[], secrets: readonly string[]): boolean {
  let holds = false;
  for (const secret of secrets) {
    const digest = sha256(secret);
    // Always makes as many comparisons as a client can have secrets, so that the time doesn't reveal their number.
    for (let nth = 0; nth < MOST_SECRETS; nth += 1) {
      const hash = mine[nth]?.hash ?? null;
      const isEqual = timingSafeEqual(digest, hash ?? NO_SECRET);
      holds ||= isEqual && hash !== null;
    }
  }
  return holds;
}

/**
 * A client that contradicts its security profile gets nothing until an administrator has corrected it.
 * @throws OAuthError `unauthorized_client`
 */
export function demandProfile({ profile, profileLacks }: Pick<ClientView, 'profile' | 'profileLacks'>): void {
  if (profileLacks.length > 0)
    throw new OAuthError('unauthorized_client', `This client lacks something of the profile ${profile}`, {
      reason: profileLacks.join('; ').slice(0, 500),
    });
}

export function createClientAuthentication({
  clients,
  assertions,
  certificates,
  workloads,
  passwords,
  failureMs = FAILURE_MS,
  now,
}: {
  clients: {
    view(realm: string, clientId: string): Promise<ClientView | undefined>;
    overview(realm: string): Promise<Overview>;
  };
  assertions: Assertions;
  /** Loaded with the first client that shows a certificate. */
  certificates(): Promise<CertificateChecks>;
  /** Loaded with the first client that a workload identity proves. */
  workloads(): Promise<WorkloadChecks>;
  passwords: Pick<Passwords, 'verify' | 'phcForNobody'>;
  failureMs?: number;
  now: () => Date;
}) {
  const wrongSecrets = createWrongSecrets({ now });
  const slowSecrets = createSlowSecrets({ passwords });

  const secretsNow = (client: ClientView | undefined): ClientSecret[] => {
    const at = now().getTime();
    return (client?.secrets ?? []).filter(({ until }) => until === null || until > at);
  };

  function knownFirst(mine: readonly ClientSecret[], secrets: readonly string[]): string[] {
    const slow = mine.find((one) => one.slow !== null)?.slow;
    const rank = (secret: string) => (slow && slowSecrets.isKnown(slow, secret) ? 0 : 1);
    return secrets.toSorted((one, other) => rank(one) - rank(other));
  }

  /**
   * Checks the client's slow secret. If any client of the realm has one, every refusal takes as long, whether the client
   * exists or not.
   */
  async function weakHolds(realm: string, mine: readonly ClientSecret[], secret: string): Promise<boolean> {
    // New secrets are strong, so at most one is checked slowly.
    const slow = mine.find((one) => one.slow !== null)?.slow;
    if (slow) return slowSecrets.holds(slow, secret);
    if ((await clients.overview(realm)).slowSecrets) await slowSecrets.pretend(secret);
    return false;
  }

  /** Checks a secret. Wrong guesses are limited, but a correct strong secret, which can't be guessed, always passes. */
  async function secretProves(
    { realm, address }: ClientRequest,
    client: ClientView | undefined,
    { clientId, secrets }: { clientId: string; secrets: string[] },
  ): Promise<boolean> {
    const takesSecrets = usesSecret(client?.authMethod);
    const mine = secretsNow(client);
    if (strongHolds(mine, secrets)) return takesSecrets;
    const attempts: { hold(): void }[] = [];
    // Each reading of a Basic header is a guess of its own. The one that held before comes first.
    for (const secret of knownFirst(mine, secrets)) {
      const attempt = wrongSecrets.take(realm, clientId, address, sha256(secret));
      if ('wait' in attempt)
        throw new OAuthError('slow_down', 'Too many wrong secrets were sent for this client from this address', {
          retryAfterSeconds: attempt.wait,
        });
      attempts.push(attempt);
      if (!(await weakHolds(realm, mine, secret))) continue;
      for (const one of attempts) one.hold();
      return takesSecrets;
    }
    return false;
  }

  async function byCertificate({ realm, certificate }: ClientRequest, client: ClientView): Promise<Verdict> {
    if (!certificate) return { fault: 'no certificate came with the request' };
    if (client.authMethod === SPIFFE_X509) return (await workloads()).byCertificate(client, certificate);
    return verdictOf(await (await certificates()).fault(realm, client, certificate));
  }

  /** @returns the cause of a refusal, for the audit log, or what proved the client */
  async function judge(
    asked: ClientRequest,
    client: ClientView | undefined,
    presented: Exclude<Presented, FederatedAssertion>,
  ): Promise<Verdict> {
    const holds = (proven: boolean) => verdictOf(proven ? undefined : 'the proof did not hold');
    if (presented.method === 'secret') return holds(await secretProves(asked, client, presented));
    if (client === undefined) return { fault: 'no such client' };
    const { authMethod } = client;
    if (presented.method === 'none')
      return usesCertificate(authMethod) || authMethod === SPIFFE_X509
        ? byCertificate(asked, client)
        : holds(authMethod === 'none');
    if (usesWorkloadToken(authMethod)) return { fault: 'the assertion is the client’s own, not a workload’s' };
    return holds(
      authMethod === 'private_key_jwt' && (await assertions.holds(asked.realm, client, presented.assertion)),
    );
  }

  /** Keys that arrive after the time for them are cached for the next try. */
  async function judgeFederated({ realm }: ClientRequest, presented: FederatedAssertion): Promise<Judged> {
    const checks = await workloads();
    const late = sleep(
      failureMs * KEYS_SHARE,
      { verdict: { fault: 'the issuer’s keys did not come in time' } },
      { ref: false },
    );
    return Promise.race([checks.byToken(realm, presented), late]);
  }

  function accepted({ client, verdict: { fault, ...by } }: Judged): Authenticated {
    if (fault !== undefined || !client?.enabled) {
      throw new OAuthError('invalid_client', 'The client could not be authenticated', {
        reason: client?.enabled === false ? 'the client is disabled' : (fault ?? 'no such client'),
      });
    }
    demandProfile(client);
    return { client, confidential: client.authMethod !== 'none', ...by };
  }

  async function proven(asked: ClientRequest): Promise<Authenticated> {
    const presented = presentedBy(asked.authorization, asked.form);
    if (presented.method !== 'federated') {
      const client = await clients.view(asked.realm, presented.clientId);
      const verdict = await judge(asked, client, presented);
      return accepted({ client, verdict: client ? verdict : { fault: 'no such client' } });
    }
    const deadline = sleep(failureMs, undefined, { ref: false });
    const judged = await judgeFederated(asked, presented);
    if (judged.verdict.fault !== undefined || !judged.client?.enabled) await deadline;
    return accepted(judged);
  }

  return {
    /**
     * The client of a request to the token, revocation or introspection endpoint. A client with a secret may send it
     * either way, whichever of client_secret_basic and client_secret_post it is registered with.
     * @throws OAuthError with the request's client id: `invalid_client` for every wrong credential; `invalid_request`
     *   for two methods at once; `slow_down` after too many wrong attempts
     */
    async authenticate(asked: ClientRequest): Promise<Authenticated> {
      try {
        return await proven(asked);
      } catch (thrown) {
        const error = oauthErrorOf(thrown);
        error.clientId = nameIn(asked.authorization, asked.form);
        throw error;
      }
    },
  };
}
export type ClientAuthentication = ReturnType<typeof createClientAuthentication>;
