// The rules for what administrators declare of clients' certificates: the names in them, and the authorities of a realm or a client
// (RFC 8705 §2.1). Pure.
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { CERTIFICATE_NAMES, type CertificateName } from '../../../contract/client-authentication.ts';
import type { Client } from '../../../contract/clients.ts';
import type { FieldError } from '../../../contract/problem.ts';
import { certificatesInPem } from '../../../crypto/pem.ts';

const MOST = 50;

function isAuthority(pem: string): boolean {
  try {
    return new X509Certificate(pem).ca;
  } catch {
    return false;
  }
}

/** The certificates that can issue none, and too many of them. One that has expired is kept: it no longer counts. */
export function authorityFaults(path: string, authorities: string | null): FieldError[] {
  const certificates = certificatesInPem(authorities ?? '');
  if (certificates.length > MOST) return [{ path, message: `has more than ${MOST} certificates` }];
  const at = certificates.findIndex((pem) => !isAuthority(pem));
  return at < 0 ? [] : [{ path, message: `certificate ${at + 1} is not that of an authority (basic constraints)` }];
}

export type Certified = Pick<
  Client,
  CertificateName | 'tlsClientAuthAuthorities' | 'tokenEndpointAuthMethod' | 'jwks' | 'jwksUri'
>;

/** RFC 8705 §2.1.2: a client has exactly one name. §2.2.2: a self-signed certificate has to be registered. */
export function certificateFaults(client: Certified): FieldError[] {
  const { tokenEndpointAuthMethod: method, jwks, jwksUri, tlsClientAuthAuthorities: authorities } = client;
  const [first, second] = CERTIFICATE_NAMES.filter((field) => client[field] !== null);
  const keys: unknown[] = Array.isArray(jwks?.keys) ? jwks.keys : [];
  const certificates = keys.some((key) => Array.isArray(Object(key).x5c));
  return [
    ...(method === 'tls_client_auth' && first === undefined
      ? [{ path: 'tlsClientAuthSubjectDn', message: 'tls_client_auth needs this, or one of tlsClientAuthSan…' }]
      : []),
    ...(second === undefined
      ? []
      : [{ path: second, message: `only one name counts, and ${first} is given (RFC 8705 §2.1.2)` }]),
    ...CERTIFICATE_NAMES.flatMap((field) => nameFault(field, client[field])),
    ...authorityFaults('tlsClientAuthAuthorities', authorities),
    ...(method === 'self_signed_tls_client_auth' && jwksUri === null && !certificates
      ? [{ path: 'jwks', message: 'self_signed_tls_client_auth needs a key with x5c, or jwksUri' }]
      : []),
  ];
}

const like = (form: RegExp) => (name: string) => form.test(name);
const NAME_FORMS: Readonly<Record<CertificateName, [fits: (name: string) => boolean, message: string]>> = {
  tlsClientAuthSubjectDn: [
    like(/^\s*[A-Za-z0-9.-]+\s*=([^\\,+;]|\\.)+([,+;]\s*[A-Za-z0-9.-]+\s*=([^\\,+;]|\\.)+)*$/),
    'must be a distinguished name such as CN=billing,O=Example,C=DE (RFC 4514)',
  ],
  tlsClientAuthSanDns: [like(/^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/), 'must be a DNS name, without a wildcard'],
  tlsClientAuthSanUri: [like(/^[A-Za-z][A-Za-z0-9+.-]*:[\x21-\x7e]+$/), 'must be an absolute URI'],
  tlsClientAuthSanIp: [(name) => isIP(name) !== 0 && !name.includes('%'), 'must be an IP address'],
  tlsClientAuthSanEmail: [like(/^[^@\s]+@[^@\s]+$/), 'must be an e-mail address'],
};
function nameFault(field: CertificateName, name: string | null): FieldError[] {
  const [fits, message] = NAME_FORMS[field];
  return name === null || fits(name) ? [] : [{ path: field, message }];
}
