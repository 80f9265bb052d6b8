// Owns: what X.509 says about a client's certificate: its time, its uses, its path to an authority, the names in it. RFC 5280 §6, with
// fewer things accepted: no name constraints, no signature by SHA-1, no extension that is critical and unknown.
// Does not own: which authorities and names a client has (features/protocol/client-authentication).
// Implements: RFC 8705 §2.1, §7.4, §7.5. The signatures are node:crypto's, and the parsing is a library's.
import { X509Certificate } from 'node:crypto';
import schema from '@peculiar/asn1-schema';
import type { Certificate, Extension } from '@peculiar/asn1-x509';
// A CommonJS module has only a default export in the bundle.
import x509 from '@peculiar/asn1-x509';
import { certificatesInPem } from '../crypto/pem.ts';
import { comparable, type DnPart } from './distinguished-name.ts';

const { AsnConvert } = schema;

/** The most certificates between a client's and its authority. */
const MOST_BETWEEN = 4;
const LEAST_RSA_BITS = 2048;
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
const ANY_USE = '2.5.29.37.0';

/** RSA by PKCS #1, ECDSA and EdDSA with SHA-2 or better. */
const SIGNATURES = new Set([
  '1.2.840.113549.1.1.11',
  '1.2.840.113549.1.1.12',
  '1.2.840.113549.1.1.13',
  '1.2.840.10045.4.3.2',
  '1.2.840.10045.4.3.3',
  '1.2.840.10045.4.3.4',
  '1.3.101.112',
  '1.3.101.113',
]);
const PSS = '1.2.840.113549.1.1.10';
/** RFC 4055 §3.1: the parameters of PSS, in DER, with a hash of SHA-2. The default is SHA-1. */
const PSS_BY_SHA2 = /^30..a0..30..060960864801650304020[123]/;
/** Extensions that are read here, or that change nothing about who the certificate is for. */
const READ = new Set<string>([
  x509.id_ce_basicConstraints,
  x509.id_ce_keyUsage,
  x509.id_ce_extKeyUsage,
  x509.id_ce_subjectAltName,
  x509.id_ce_certificatePolicies,
]);

/** A certificate by both libraries. */
export interface ReadCertificate {
  node: X509Certificate;
  asn: Certificate;
  /** Signatures that were checked: which of these certificates issued this one. */
  issuers: WeakMap<ReadCertificate, boolean>;
}

/** @param certificate PEM or DER @throws for what is no certificate */
export function readCertificate(certificate: string | Buffer): ReadCertificate {
  const node = new X509Certificate(certificate);
  return { node, asn: AsnConvert.parse(node.raw, x509.Certificate), issuers: new WeakMap() };
}

/** @throws for a certificate that can't be read */
export const readCertificates = (pem: string): ReadCertificate[] => certificatesInPem(pem).map(readCertificate);

const extensionsOf = ({ asn }: ReadCertificate): readonly Extension[] => asn.tbsCertificate.extensions ?? [];
const extension = (certificate: ReadCertificate, id: string): Extension | undefined =>
  extensionsOf(certificate).find(({ extnID }) => extnID === id);

/** The fault of a certificate by itself, whoever issued it; undefined: none. */
export function timeFault({ node }: ReadCertificate, now: Date): string | undefined {
  if (node.validFromDate > now) return 'the certificate is not valid yet';
  return node.validToDate < now ? 'the certificate has expired' : undefined;
}

function useFault(certificate: ReadCertificate, use: 'client' | 'authority'): string | undefined {
  const usage = extension(certificate, x509.id_ce_keyUsage);
  const flag = use === 'client' ? x509.KeyUsageFlags.digitalSignature : x509.KeyUsageFlags.keyCertSign;
  if (usage && !(AsnConvert.parse(usage.extnValue, x509.KeyUsage).toNumber() & flag))
    return `the key of the ${use} is for another use`;
  const extended = extension(certificate, x509.id_ce_extKeyUsage);
  const purposes = extended && [...AsnConvert.parse(extended.extnValue, x509.ExtendedKeyUsage)];
  return purposes && !purposes.some((one) => one === CLIENT_AUTH || one === ANY_USE)
    ? `the certificate of the ${use} is not for TLS clients`
    : undefined;
}

function formFault(certificate: ReadCertificate): string | undefined {
  const ids = extensionsOf(certificate).map(({ extnID }) => extnID);
  if (new Set(ids).size < ids.length) return 'an extension comes twice';
  if (ids.includes(x509.id_ce_nameConstraints)) return 'name constraints are not supported';
  const unknown = extensionsOf(certificate).find(({ critical, extnID }) => critical && !READ.has(extnID));
  return unknown && `the critical extension ${unknown.extnID} is not known`;
}

function isAccepted({ algorithm, parameters }: Certificate['signatureAlgorithm']): boolean {
  return algorithm === PSS
    ? PSS_BY_SHA2.test(Buffer.from(parameters ?? new ArrayBuffer(0)).toString('hex'))
    : SIGNATURES.has(algorithm);
}

function keyFault({ node, asn }: ReadCertificate): string | undefined {
  if (!isAccepted(asn.signatureAlgorithm)) return 'it is signed by an algorithm that is not accepted';
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = node.publicKey;
  return type?.startsWith('rsa') && (details?.modulusLength ?? 0) < LEAST_RSA_BITS
    ? `an RSA key has fewer than ${LEAST_RSA_BITS} bits`
    : undefined;
}

const constraintsOf = (certificate: ReadCertificate) => {
  const found = extension(certificate, x509.id_ce_basicConstraints);
  return found && AsnConvert.parse(found.extnValue, x509.BasicConstraints);
};

/** @param below how many authorities are between this one and the client */
function authorityFault(certificate: ReadCertificate, below: number, now: Date): string | undefined {
  const constraints = constraintsOf(certificate);
  if (!constraints?.cA) return 'its issuer is no authority (basic constraints)';
  if (constraints.pathLenConstraint !== undefined && constraints.pathLenConstraint < below)
    return 'its path is longer than an authority allows';
  const time = timeFault(certificate, now);
  if (time !== undefined) return `of an authority: ${time}`;
  return useFault(certificate, 'authority') ?? formFault(certificate) ?? keyFault(certificate);
}

function clientFault(certificate: ReadCertificate, now: Date): string | undefined {
  if (constraintsOf(certificate)?.cA) return 'it is the certificate of an authority';
  return (
    timeFault(certificate, now) ?? useFault(certificate, 'client') ?? formFault(certificate) ?? keyFault(certificate)
  );
}

/** The key is compared by the signature, so an authority of the same name with another key issues nothing. */
function issued(issuer: ReadCertificate, { node, issuers }: ReadCertificate): boolean {
  const known = issuers.get(issuer);
  if (known !== undefined) return known;
  const holds = node.checkIssued(issuer.node) && node.verify(issuer.node.publicKey);
  issuers.set(issuer, holds);
  return holds;
}

const isSame = (one: ReadCertificate, other: ReadCertificate): boolean => one.node.raw.equals(other.node.raw);

/**
 * Whether a path of valid certificates leads from the client's to one of the authorities.
 * @param between certificates that the client sent, which count only on a path to an authority
 * @returns the fault; undefined: there is such a path
 */
export function pathFault(
  certificate: ReadCertificate,
  {
    between,
    authorities,
    now,
  }: { between: readonly ReadCertificate[]; authorities: readonly ReadCertificate[]; now: Date },
): string | undefined {
  const own = clientFault(certificate, now);
  if (own !== undefined) return own;
  // A client could send many that issue each other, to keep the server busy (RFC 8705 §7.5).
  const sent = between.slice(0, MOST_BETWEEN);
  let fault = 'no authority of the client issued the certificate';
  const leads = (from: ReadCertificate, path: readonly ReadCertificate[]): boolean => {
    const usable = (issuer: ReadCertificate): boolean => {
      if (path.some((one) => isSame(one, issuer)) || !issued(issuer, from)) return false;
      const found = authorityFault(issuer, path.length, now);
      fault = found ?? fault;
      return found === undefined;
    };
    if (authorities.some(usable)) return true;
    if (path.length >= MOST_BETWEEN) return false;
    return sent.some((issuer) => usable(issuer) && leads(issuer, [...path, issuer]));
  };
  return leads(certificate, []) ? undefined : fault;
}

/** Short names of RFC 4514 §3 and of what authorities use besides. */
const TYPES: Readonly<Record<string, string>> = {
  cn: '2.5.4.3',
  sn: '2.5.4.4',
  serialnumber: '2.5.4.5',
  c: '2.5.4.6',
  l: '2.5.4.7',
  st: '2.5.4.8',
  s: '2.5.4.8',
  street: '2.5.4.9',
  o: '2.5.4.10',
  ou: '2.5.4.11',
  title: '2.5.4.12',
  businesscategory: '2.5.4.15',
  postalcode: '2.5.4.17',
  gn: '2.5.4.42',
  givenname: '2.5.4.42',
  organizationidentifier: '2.5.4.97',
  dc: '0.9.2342.19200300.100.1.25',
  uid: '0.9.2342.19200300.100.1.1',
  e: '1.2.840.113549.1.9.1',
  email: '1.2.840.113549.1.9.1',
  emailaddress: '1.2.840.113549.1.9.1',
  jurisdictionc: '1.3.6.1.4.1.311.60.2.1.3',
};
const OID = /^\d+(\.\d+)+$/;

/** The steps of a written name by the types' identifiers; undefined: a step has no attribute, or one whose type is unknown. */
export function typedSteps(steps: readonly (readonly DnPart[])[]): DnPart[][] | undefined {
  const typed = steps.map((step) =>
    step.map(({ type, value }) => ({ type: TYPES[type] ?? (OID.test(type) ? type : ''), value })),
  );
  return typed.every((step) => step.length > 0 && step.every(({ type }) => type !== '')) ? typed : undefined;
}

/** The subject as RFC 4514 §2.1 orders it: the last step comes first. */
export const subjectOf = ({ asn }: ReadCertificate): DnPart[][] =>
  [...asn.tbsCertificate.subject]
    .map((step) => [...step].map(({ type, value }) => ({ type, value: comparable(value.toString()) })))
    .reverse();

/** The names among the alternative ones of the certificate. */
export function alternativeNames(certificate: ReadCertificate) {
  const found = extension(certificate, x509.id_ce_subjectAltName);
  const names = found ? [...AsnConvert.parse(found.extnValue, x509.SubjectAlternativeName)] : [];
  const every = (of: 'dNSName' | 'uniformResourceIdentifier' | 'iPAddress' | 'rfc822Name') =>
    names.flatMap((name) => name[of] ?? []);
  return {
    dns: every('dNSName'),
    uri: every('uniformResourceIdentifier'),
    ip: every('iPAddress'),
    email: every('rfc822Name'),
  };
}
