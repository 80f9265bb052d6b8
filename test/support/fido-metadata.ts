// Owns: a metadata service of FIDO's kind with a root of its own, and makers of authenticators whose attestations it lists.
// Does not own: authenticators (soft-passkey.ts).
// Implements: tests of attestation (WebAuthn §8.2; FIDO Metadata Service 3).
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { CompactSign } from 'jose';
import { type Made, makeCertificate } from './certificates.ts';
import type { Make } from './soft-passkey.ts';

const DAY_MS = 86_400_000;
export const authority = (subject: string, by?: Made): Promise<Made> =>
  makeCertificate({
    subject,
    ...(by && { by }),
    until: new Date(Date.now() + DAY_MS),
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
    ],
  });

export interface Maker {
  aaguid: string;
  root: Made;
  /** Makes an authenticator. @param by signs its certificate; without it: the maker's root */
  make(by?: Made): Promise<Make>;
}

export async function createMaker(aaguid: string): Promise<Maker> {
  const root = await authority(`CN=Root of ${aaguid}, O=Keys, C=SE`);
  return {
    aaguid,
    root,
    async make(by = root) {
      const leaf = await makeCertificate({
        subject: 'CN=Key, OU=Authenticator Attestation, O=Keys, C=SE',
        by,
        extensions: [
          new x509.BasicConstraintsExtension(false),
          new x509.Extension('1.3.6.1.4.1.45724.1.1.4', false, aaguidExtension(aaguid)),
        ],
      });
      return { aaguid, packed: { certificates: [leaf.der], key: leaf.privateKey } };
    },
  };
}

/** id-fido-gen-ce-aaguid: an octet string in an octet string. */
const aaguidExtension = (aaguid: string): ArrayBuffer =>
  Uint8Array.from([4, 16, ...Buffer.from(aaguid.replaceAll('-', ''), 'hex')]).buffer;

export interface Listed {
  maker: Pick<Maker, 'aaguid' | 'root'>;
  statuses?: readonly string[];
  description?: string;
}

export interface BlobOptions {
  number?: number;
  nextUpdate?: string;
  signer: Made;
  /** The certificates of the header, the signer's first. */
  chain?: readonly Made[];
}

/** A signed document. */
export async function metadataBlob(
  listed: readonly Listed[],
  { number = 1, nextUpdate = '2099-01-01', signer, chain = [signer] }: BlobOptions,
): Promise<string> {
  const entries = listed.map(({ maker, statuses = ['FIDO_CERTIFIED_L1'], description = 'Key of a test' }) => ({
    aaguid: maker.aaguid,
    metadataStatement: { description, attestationRootCertificates: [maker.root.der.toString('base64')] },
    statusReports: statuses.map((status) => ({ status, effectiveDate: '2026-01-01' })),
    timeOfLastStatusChange: '2026-01-01',
  }));
  const payload = JSON.stringify({ legalHeader: 'test', no: number, nextUpdate, entries });
  return new CompactSign(Buffer.from(payload))
    .setProtectedHeader({ alg: 'ES256', typ: 'JWT', x5c: chain.map(({ der }) => der.toString('base64')) })
    .sign(signer.privateKey);
}
