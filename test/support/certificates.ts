// Owns: authorities and certificates of clients, good ones and others, and requests that show them.
// Does not own: the server's listener (server/http/mutual-tls.ts).
// Implements: tests of mutual TLS (RFC 8705).
import 'reflect-metadata';
import { type KeyObject, KeyObject as Keys, type webcrypto, X509Certificate } from 'node:crypto';
import { request as httpsRequest } from 'node:https';
import * as x509 from '@peculiar/x509';
import { sha256 } from '../../server/crypto/tokens.ts';
import type { Answer } from './clients.ts';

const { subtle } = globalThis.crypto;
const EC = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
export const pss = (hash: 'SHA-1' | 'SHA-256' | 'SHA-512') => ({
  name: 'RSA-PSS',
  hash,
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
  saltLength: 20,
});
/** Too short. */
export const RSA_1024 = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  modulusLength: 1024,
  publicExponent: new Uint8Array([1, 0, 1]),
};
const HOUR_MS = 3_600_000;

export interface Made {
  pem: string;
  der: Buffer;
  /** PEM, PKCS #8. */
  key: string;
  keys: webcrypto.CryptoKeyPair;
  algorithm: NonNullable<Wanted['algorithm']>;
  privateKey: KeyObject;
  subject: string;
  thumbprint: string;
  certificate: x509.X509Certificate;
}

export interface Wanted {
  subject?: string;
  /** undefined: self-signed. */
  by?: Made;
  keys?: webcrypto.CryptoKeyPair;
  algorithm?: typeof EC | typeof RSA_1024 | ReturnType<typeof pss>;
  from?: Date;
  until?: Date;
  extensions?: x509.Extension[];
}

let serial = 1;
export async function makeCertificate({
  subject = 'CN=client',
  by,
  algorithm = EC,
  keys,
  from = new Date(Date.now() - HOUR_MS),
  until = new Date(Date.now() + HOUR_MS),
  extensions = [],
}: Wanted = {}): Promise<Made> {
  const pair = keys ?? ((await subtle.generateKey(algorithm, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair);
  serial += 1;
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serial.toString(16).padStart(4, '0'),
    subject,
    issuer: by?.subject ?? subject,
    notBefore: from,
    notAfter: until,
    signingAlgorithm: by ? by.algorithm : algorithm,
    publicKey: pair.publicKey,
    signingKey: (by?.keys ?? pair).privateKey,
    extensions,
  });
  const der = Buffer.from(certificate.rawData);
  const privateKey = Keys.from(pair.privateKey);
  return {
    pem: new X509Certificate(der).toString(),
    der,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    keys: pair,
    algorithm,
    privateKey,
    subject,
    thumbprint: sha256(der).toString('base64url'),
    certificate,
  };
}

export const { KeyUsageFlags } = x509;
export const authority = (pathLength?: number): x509.Extension[] => [
  new x509.BasicConstraintsExtension(true, pathLength, true),
  new x509.KeyUsagesExtension(KeyUsageFlags.keyCertSign, true),
];
export const usage = (flags: x509.KeyUsageFlags) => new x509.KeyUsagesExtension(flags, true);
export const forClients = () => new x509.ExtendedKeyUsageExtension(['1.3.6.1.5.5.7.3.2']);
export const forServers = () => new x509.ExtendedKeyUsageExtension(['1.3.6.1.5.5.7.3.1']);
export const named = (type: x509.GeneralNameType, ...values: string[]) =>
  new x509.SubjectAlternativeNameExtension(values.map((value) => ({ type, value })));
export const unknownExtension = () => new x509.Extension('1.2.3.4', true, new Uint8Array([5, 0]));

export const makeAuthority = (subject = 'CN=Authority,O=Bank', more: Wanted = {}): Promise<Made> =>
  makeCertificate({ subject, extensions: authority(), ...more });

/** Posts a form, or gets, at the listener for mutual TLS, by this certificate. */
export function shows(
  address: string,
  {
    by,
    form,
    headers = {},
    chain = [],
  }: {
    by?: Pick<Made, 'pem' | 'key'> | undefined;
    form?: Record<string, string>;
    headers?: Record<string, string>;
    chain?: readonly Made[];
  },
): Promise<Answer> {
  const body = form && new URLSearchParams(form).toString();
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      address,
      {
        method: body === undefined ? 'GET' : 'POST',
        rejectUnauthorized: false,
        agent: false,
        ...(by && { cert: [by, ...chain].map(({ pem }) => pem).join(''), key: by.key }),
        headers: { ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }), ...headers },
      },
      async (response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk);
        const text = Buffer.concat(chunks).toString();
        let read: Record<string, unknown> = {};
        try {
          read = JSON.parse(text);
        } catch {
          // a page, or nothing
        }
        const got = new Headers(
          Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]),
        );
        resolve({ status: response.statusCode ?? 0, headers: got, text, body: read });
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}
