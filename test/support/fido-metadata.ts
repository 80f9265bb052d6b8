// Owns: a metadata service of FIDO's kind with a root of its own, and makers of authenticators whose attestations it lists.
// Does not own: authenticators (soft-passkey.ts).
// Implements: tests of attestation (WebAuthn §8.2; FIDO Metadata Service 3).
import 'reflect-metadata';
import type { KeyObject } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { CompactSign } from 'jose';
import { sha256 } from '../../server/crypto/tokens.ts';
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

/**
 * The certificates of an attestation as Android makes it, of a root that nobody knows.
 * @param crl where the certificate says that its revocation list is
 */
export async function androidCertificates(
  { publicKey, privateKey }: { publicKey: KeyObject; privateKey: KeyObject },
  clientData: Buffer,
  crl: string,
): Promise<Buffer[]> {
  const root = await authority('CN=Root of nobody');
  const imported = (key: KeyObject, use: 'sign' | 'verify') =>
    crypto.subtle.importKey('jwk', key.export({ format: 'jwk' }), EC, true, [use]);
  const keys = { publicKey: await imported(publicKey, 'verify'), privateKey: await imported(privateKey, 'sign') };
  const challenge = sha256(clientData);
  // KeyDescription: made for signing (purpose 2), in the device (origin 0).
  const enforced = [0x30, 14, 0xa1, 5, 0x31, 3, 2, 1, 2, 0xbf, 0x85, 0x3e, 3, 2, 1, 0];
  const inside = [2, 1, 3, 10, 1, 1, 2, 1, 4, 10, 1, 1, 4, 32, ...challenge, 4, 0, 0x30, 0, ...enforced];
  const description = Uint8Array.from([0x30, inside.length, ...inside]).buffer;
  const extensions = [
    new x509.Extension('1.3.6.1.4.1.11129.2.1.17', false, description),
    new x509.CRLDistributionPointsExtension([crl]),
  ];
  const leaf = await makeCertificate({ subject: 'CN=Android key', by: root, keys, extensions });
  return [leaf.der, root.der];
}
const EC = { name: 'ECDSA', namedCurve: 'P-256' };
