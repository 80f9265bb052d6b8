// Checks the certificate of a client's connection: by an authority (tls_client_auth), or as one that the client registered
// (self_signed_tls_client_auth). Loaded with the first client that authenticates by a certificate. RFC 8705 §2.
import type { CertificateName } from '../../../contract/client-authentication.ts';
import {
  alternativeNames,
  pathFault,
  type ReadCertificate,
  readCertificate,
  readCertificates,
  subjectOf,
  timeFault,
  typedSteps,
} from '../../../domain/client-certificate.ts';
import { dnSteps, keyOf } from '../../../domain/distinguished-name.ts';
import type { ClientCertificate } from '../../../http/client-certificate.ts';
import { plainAddress } from '../../../http/network.ts';
import { createRecentlyUsed } from '../../../schedule/recently-used.ts';
import { certificatesIn, type WithClientKeys } from '../../configuration/clients/keys.ts';
import type { CertificateTerms, ClientView } from '../../configuration/clients/view.ts';

/** The most lists of authorities, and the most certificates, that are kept parsed. */
const MOST_LISTS = 200;
const MOST_CERTIFICATES = 1_000;

const sameHost = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();
/** The part before the @ is the host's own matter (RFC 5280 §7.5). */
function sameMailbox(one: string, other: string): boolean {
  const [at, wanted] = [one.lastIndexOf('@'), other.lastIndexOf('@')];
  return at > 0 && one.slice(0, at) === other.slice(0, wanted) && sameHost(one.slice(at), other.slice(wanted));
}
/** An address as its one spelling; text that is none equals nothing. */
const sameAddress = (one: string, other: string): boolean =>
  plainAddress(one) !== undefined && plainAddress(one) === plainAddress(other);

/** Whether the certificate has the registered name. A wildcard in it is a name like any other. */
const bears: Record<CertificateName, (certificate: ReadCertificate, wanted: string) => boolean> = {
  tlsClientAuthSubjectDn(certificate, wanted) {
    const steps = typedSteps(dnSteps(wanted));
    return steps !== undefined && keyOf(steps) === keyOf(subjectOf(certificate));
  },
  tlsClientAuthSanDns: (certificate, wanted) => alternativeNames(certificate).dns.some((one) => sameHost(one, wanted)),
  tlsClientAuthSanUri: (certificate, wanted) => alternativeNames(certificate).uri.includes(wanted),
  tlsClientAuthSanIp: (certificate, wanted) => alternativeNames(certificate).ip.some((one) => sameAddress(one, wanted)),
  tlsClientAuthSanEmail: (certificate, wanted) =>
    alternativeNames(certificate).email.some((one) => sameMailbox(one, wanted)),
};

/** RFC 8705 §2.1.2: one name decides. */
function nameFault(certificate: ReadCertificate, terms: CertificateTerms): string | undefined {
  const wanted = Object.entries(bears).flatMap(([field, has]) => {
    const name = terms[field as CertificateName];
    return name === null ? [] : [() => has(certificate, name)];
  });
  if (wanted.length !== 1) return 'the client does not say which one name its certificate has';
  return wanted.every((has) => has()) ? undefined : 'the certificate has another name';
}

export function createCertificateChecks({
  settings,
  withKeys,
  now,
}: {
  settings: { of(realm: string): Promise<{ tlsClientAuthAuthorities: string | null } | undefined> };
  withKeys: WithClientKeys;
  now: () => Date;
}) {
  const lists = createRecentlyUsed<readonly ReadCertificate[]>({ most: MOST_LISTS });
  const authoritiesIn = (pem: string) => lists.get(pem, () => readCertificates(pem));
  const shownBefore = createRecentlyUsed<ReadCertificate>({ most: MOST_CERTIFICATES });
  /** Its signature is checked once for each issuer, and its time with each request. */
  const certificateIn = ({ der, thumbprint }: ClientCertificate) =>
    shownBefore.get(thumbprint, () => readCertificate(der));

  function byAuthority(
    { certificate: terms }: ClientView,
    shown: ClientCertificate,
    ofRealm: string | null,
  ): string | undefined {
    const pem = terms?.tlsClientAuthAuthorities ?? ofRealm;
    if (!terms || pem === null) return 'no authority is configured for the client';
    const certificate = certificateIn(shown);
    return (
      nameFault(certificate, terms) ??
      pathFault(certificate, { between: shown.chain.map(readCertificate), authorities: authoritiesIn(pem), now: now() })
    );
  }

  /** RFC 8705 §2.2.2: the certificate itself is registered, so its issuer and its names decide nothing. */
  async function registered(client: ClientView, shown: ClientCertificate): Promise<string | undefined> {
    const time = timeFault(certificateIn(shown), now());
    if (time !== undefined) return time;
    const unknown = 'the certificate is not registered';
    const matches = withKeys(client, async (keys) => {
      // A rotated key may be in a newer set, which is fetched after an error.
      if (!certificatesIn(keys).some((one) => one.equals(shown.der))) throw new Error(unknown);
    });
    return matches.then(
      () => undefined,
      () => unknown,
    );
  }

  return {
    /** @returns the fault, for the audit log; undefined: the certificate is the client's */
    async fault(realm: string, client: ClientView, shown: ClientCertificate): Promise<string | undefined> {
      // Read first: a database that is away refuses no client.
      const ofRealm = await settings.of(realm);
      try {
        return client.authMethod === 'tls_client_auth'
          ? byAuthority(client, shown, ofRealm?.tlsClientAuthAuthorities ?? null)
          : await registered(client, shown);
      } catch {
        return 'the certificate can’t be read';
      }
    },
  };
}
export type CertificateChecks = ReturnType<typeof createCertificateChecks>;
