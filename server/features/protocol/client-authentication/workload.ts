// Checks clients that a workload identity of the realm proves: by a token that its issuer signed (federated_jwt), a JWT-SVID
// (spiffe_jwt) or an X.509-SVID (spiffe_x509). Loaded with the first such client. RFC 7523 §3; draft-ietf-oauth-spiffe-client-auth.
import { SPIFFE_X509, usesWorkloadToken } from '../../../contract/client-authentication.ts';
import { sha256 } from '../../../crypto/tokens.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import {
  alternativeNames,
  pathFault,
  type ReadCertificate,
  readCertificate,
} from '../../../domain/client-certificate.ts';
import { type IssuerKeys, signatureHolds } from '../../../domain/issuer-keys.ts';
import { isFirstUse } from '../../../domain/spent-proofs.ts';
import {
  type ForeignKey,
  type Presented,
  readToken,
  timeFault,
  trustDomainOf,
} from '../../../domain/workload-token.ts';
import type { ClientCertificate } from '../../../http/client-certificate.ts';
import { createRecentlyUsed } from '../../../schedule/recently-used.ts';
import type { ClientView, WorkloadTerms } from '../../configuration/clients/view.ts';
import type { FederatedAssertion } from './presented.ts';
import type { Judged, Verdict } from './service.ts';

const SKEW_SECONDS = 60;
/** The most certificates that are kept parsed. */
const MOST_CERTIFICATES = 1_000;

/** The types of JWTs that prove the workload which sends them. A request object, a DPoP proof or an event proves nobody. */
const TYPES = /^(application\/)?(jwt|jose|at\+jwt|client-authentication\+jwt)$/i;

/** What proved the client: a workload identity, by name. */
export interface WorkloadProof {
  name: string;
  adminAccess: boolean;
}
const proofOf = ({ name, adminAccess }: WorkloadTerms): Verdict => ({ workload: { name, adminAccess } });

/** Kubernetes and SPIRE give a workload the same token until it is about to expire. */
const isGivenRepeatedly = (subject: string): boolean =>
  subject.startsWith('system:serviceaccount:') || subject.startsWith('spiffe://');
const isSingleUse = ({ singleUse }: WorkloadTerms, { subject, jti }: Presented): boolean =>
  singleUse ?? (jti !== undefined && !isGivenRepeatedly(subject));

/** A JWT-SVID is issued by its trust domain, whatever its `iss` says (JWT-SVID §3); undefined: the subject is no SPIFFE ID. */
const issuerFor = (client: Pick<ClientView, 'authMethod'>, { issuer, subject }: Presented): string | undefined =>
  client.authMethod === 'spiffe_jwt' ? trustDomainOf(subject) : issuer;

const authoritiesIn = (keys: readonly ForeignKey[]): string[] =>
  keys.flatMap(({ use, x5c }) => (use === 'x509-svid' && x5c?.[0] !== undefined ? [x5c[0]] : []));

/** The clients that a token authenticates by a workload identity: several, if identities of several issuers fit. */
async function clientsOf(
  sql: Sql,
  realm: string,
  { issuers, subject, audiences }: { issuers: readonly string[]; subject: string; audiences: readonly string[] },
): Promise<string[]> {
  const rows = await sql<{ client_id: string }>`
    select distinct w.client_id
    from workload_identity w join client c on c.realm_id = w.realm_id and c.client_id = w.client_id
    where w.realm_id = ${realm} and w.issuer = any(${issuers}::text[]) and w.subject = ${subject}
      and w.audience = any(${audiences}::text[]) and w.use <> 'exchange' and w.enabled
      and c.token_endpoint_auth_method in ('federated_jwt', 'spiffe_jwt')
    order by w.client_id limit 2`;
  return rows.map((row) => row.client_id);
}

export function createWorkloadChecks({
  sql,
  clients,
  issuerKeys,
  now,
}: {
  sql: Sql;
  clients: { view(realm: string, clientId: string): Promise<ClientView | undefined> };
  issuerKeys: IssuerKeys;
  now: () => Date;
}) {
  const read = createRecentlyUsed<ReadCertificate>({ most: MOST_CERTIFICATES });
  const certificateIn = (der: Buffer): ReadCertificate => read.get(der.toString('base64'), () => readCertificate(der));

  /** The one client that a workload identity with the token's issuer, subject and audience proves. */
  async function clientOf(realm: string, token: Presented): Promise<ClientView | undefined> {
    const issuers = [token.issuer, trustDomainOf(token.subject) ?? token.issuer];
    const [clientId, other] = await clientsOf(sql, realm, { ...token, issuers });
    return clientId === undefined || other !== undefined ? undefined : clients.view(realm, clientId);
  }

  async function isFresh(realm: string, client: ClientView, { issuer, jti, exp }: Presented): Promise<boolean> {
    if (jti === undefined || jti === '') return false;
    // The id is stored as long as the token could be accepted. Each issuer has ids of its own.
    const until = new Date((exp + SKEW_SECONDS) * 1000);
    return isFirstUse(
      sql,
      fragment`
        insert into client_assertion (realm_id, client, jti_hash, expires_at)
        values (${realm}, ${client.id}, ${sha256(JSON.stringify([issuer, jti]))}, ${until})`,
    );
  }

  async function signatureFault(terms: WorkloadTerms, token: Presented): Promise<string | undefined> {
    try {
      return (await signatureHolds(issuerKeys, terms, token)) ? undefined : 'no key of the issuer made the signature';
    } catch (error) {
      return `the issuer's keys could not be had: ${error instanceof Error ? error.message : error}`;
    }
  }

  async function judge(realm: string, client: ClientView, token: Presented): Promise<Verdict> {
    const issuer = issuerFor(client, token);
    const [audience, another] = token.audiences;
    const ofWorkload = client.workloads.filter((one) => one.issuer === issuer && one.subject === token.subject);
    if (ofWorkload.length === 0)
      return { fault: 'no workload identity that authenticates this client has this issuer and subject' };
    // RFC 7523bis: any of several audiences could use the token here.
    if (another !== undefined) return { fault: 'the token has several audiences' };
    const terms = ofWorkload.find((one) => one.audience === audience);
    if (!terms) return { fault: 'the token has another audience than the workload identity' };
    const refuse = (reason: string): Verdict => ({ fault: `workload identity ${terms.name}: ${reason}` });
    const fault = (await signatureFault(terms, token)) ?? timeFault(token, now());
    if (fault !== undefined) return refuse(fault);
    if (isSingleUse(terms, token) && !(await isFresh(realm, client, token)))
      return refuse(token.jti ? 'the token was used before' : 'the token has no jti, by which it counts once');
    return proofOf(terms);
  }

  /** The authorities of the trust domain, by its bundle. */
  async function pathTo(terms: WorkloadTerms, shown: ClientCertificate): Promise<string | undefined> {
    const certificate = certificateIn(shown.der);
    const faultBy = (keys: readonly ForeignKey[]) =>
      pathFault(certificate, {
        between: shown.chain.map(certificateIn),
        authorities: authoritiesIn(keys).map((one) => certificateIn(Buffer.from(one, 'base64'))),
        now: now(),
      });
    const fault = faultBy(await issuerKeys.get(terms));
    // The trust domain may have a new authority.
    const renewed = fault === undefined ? undefined : await issuerKeys.renewed(terms);
    return renewed ? faultBy(renewed) : fault;
  }

  return {
    /** The client of a workload's token: the named one, or the one whose workload identity fits. */
    async byToken(realm: string, { clientId, assertion, svid }: FederatedAssertion): Promise<Judged> {
      const reading = readToken(assertion);
      const named = clientId === undefined ? undefined : await clients.view(realm, clientId);
      if (!reading.ok) return { client: named, verdict: { fault: `the assertion: ${reading.reason}` } };
      const { token } = reading;
      const client = clientId === undefined ? await clientOf(realm, token) : named;
      const refuse = (fault: string): Judged => ({ client, verdict: { fault } });
      if (!client)
        return refuse(clientId === undefined ? 'no client has a workload identity for this token' : 'no such client');
      if (!usesWorkloadToken(client.authMethod)) return refuse('the client is not proven by tokens of workloads');
      if (svid && client.authMethod !== 'spiffe_jwt') return refuse('the client is not proven by a JWT-SVID');
      if (token.typ !== undefined && !TYPES.test(token.typ)) return refuse('the assertion is a JWT of another kind');
      return { client, verdict: await judge(realm, client, token) };
    },

    /** X509-SVID §5: the path leads to an authority of the trust domain that the one SPIFFE ID names. */
    async byCertificate(client: ClientView, shown: ClientCertificate): Promise<Verdict> {
      if (client.authMethod !== SPIFFE_X509) return { fault: 'the client is not proven by an X.509-SVID' };
      try {
        const { uri } = alternativeNames(certificateIn(shown.der));
        const [id, another] = uri;
        // X509-SVID §2: exactly one.
        if (id === undefined || another !== undefined) return { fault: 'the certificate has not exactly one URI' };
        const terms = client.workloads.find((one) => one.subject === id && one.issuer === trustDomainOf(id));
        if (!terms) return { fault: 'no workload identity that authenticates this client has this SPIFFE ID' };
        const fault = await pathTo(terms, shown);
        return fault === undefined ? proofOf(terms) : { fault: `workload identity ${terms.name}: ${fault}` };
      } catch (error) {
        return { fault: `the certificate can’t be checked: ${error instanceof Error ? error.message : error}` };
      }
    },
  };
}
export type WorkloadChecks = ReturnType<typeof createWorkloadChecks>;
