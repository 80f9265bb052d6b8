// Verifies the document of FIDO's Metadata Service (version 3): its certificates, its signature, its content. It keeps what
// passkeys are judged by.
import { X509Certificate } from 'node:crypto';
import { compactVerify, decodeProtectedHeader } from 'jose';
import { z } from 'zod';
import { BadStatus, CertificationLevel } from '../../../contract/passkeys.ts';
import { leadsToRoot } from '../../../crypto/certificate-path.ts';
import type { AuthenticatorEntry } from './authenticator-metadata.ts';

const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
/** The name in the certificate of FIDO's own service: its root also issues certificates to others. */
export const SERVICE = 'mds.fidoalliance.org';
const MOST_ENTRIES = 20_000;
const MOST_ROOTS = 200;

const Header = z.object({ x5c: z.array(z.base64().max(20_000)).min(1).max(10) });
const Entry = z.object({
  aaguid: z.string().max(36).optional(),
  metadataStatement: z
    .object({
      description: z.string().catch(''),
      attestationRootCertificates: z.array(z.string().max(20_000)).max(MOST_ROOTS).catch([]),
    })
    .optional(),
  statusReports: z.array(z.object({ status: z.string() })).catch([]),
});
const Payload = z.object({
  no: z.int().min(0),
  nextUpdate: z.iso.date(),
  entries: z.array(Entry).max(MOST_ENTRIES),
});

export interface Metadata {
  number: number;
  nextUpdate: string;
  entries: ReadonlyMap<string, AuthenticatorEntry>;
}

/** The certification and the bad statuses of the reports, which are in the order of time. */
function judgedReports(reports: readonly { status: string }[]): Pick<AuthenticatorEntry, 'certification' | 'statuses'> {
  let certification: CertificationLevel | null = null;
  for (const { status } of reports) {
    const level = CertificationLevel.safeParse(status.replace(/^FIDO_CERTIFIED_/, '')).data;
    if (level) certification = level;
    else if (status === 'FIDO_CERTIFIED') certification ??= 'L1';
    else if (status === 'NOT_FIDO_CERTIFIED' || status === 'REVOKED') certification = null;
  }
  const bad = reports.flatMap(({ status }) => BadStatus.safeParse(status).data ?? []);
  return { certification, statuses: BadStatus.options.filter((status) => bad.includes(status)) };
}

/** A certificate of a statement in DER, base64; the service's statements break lines in some. */
const cleanBase64 = (certificate: string): string => certificate.replaceAll(/\s+/g, '');

/**
 * @param roots PEM @param service the name that the signer's certificate must have; undefined: any, if the roots are the
 * server operator's own
 * @throws Error with the fault
 */
export async function readMetadata(
  blob: string,
  { roots, service, now }: { roots: readonly string[]; service: string | undefined; now: Date },
): Promise<Metadata> {
  const { x5c } = Header.parse(decodeProtectedHeader(blob));
  const certificates = x5c.map((one) => Buffer.from(one, 'base64'));
  const [first] = certificates;
  if (!first || !leadsToRoot(certificates, roots, now)) throw new Error('its certificates lead to no trusted root');
  const signer = new X509Certificate(first);
  if (service !== undefined && signer.checkHost(service) === undefined)
    throw new Error(`its certificate is not that of ${service}`);
  const { payload } = await compactVerify(blob, signer.publicKey, { algorithms: ALGORITHMS });
  const { no: number, nextUpdate, entries } = Payload.parse(JSON.parse(Buffer.from(payload).toString()));
  const found = entries.flatMap(({ aaguid, metadataStatement: statement, statusReports }) => {
    if (aaguid === undefined) return [];
    const roots = (statement?.attestationRootCertificates ?? []).map(cleanBase64);
    const entry = { description: statement?.description ?? '', roots, ...judgedReports(statusReports) };
    return [[aaguid.toLowerCase(), { ...entry, description: entry.description.slice(0, 200) }] as const];
  });
  return { number, nextUpdate, entries: new Map(found) };
}
