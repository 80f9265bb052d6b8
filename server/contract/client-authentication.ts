// How clients prove themselves: the methods, and the fields of those that show a certificate (RFC 8705).
import { z } from 'zod';
import { text } from './names.ts';
import { PemCertificates } from './pem.ts';

/** A client that has a secret may send it either way. */
export const secretMethods = ['client_secret_basic', 'client_secret_post'] as const;
/** The client sends its id alone, and its connection proves it (RFC 8705 §2). */
export const certificateMethods = ['tls_client_auth', 'self_signed_tls_client_auth'] as const;
/** The client sends a token that the issuer of a workload identity signed (docs/clients-without-secrets.md). */
export const workloadTokenMethods = ['federated_jwt', 'spiffe_jwt'] as const;
/** The client sends its id alone, and its connection shows its X.509-SVID. */
export const SPIFFE_X509 = 'spiffe_x509';
/** Methods by which a workload identity of the realm proves the client. */
export const workloadMethods = [...workloadTokenMethods, SPIFFE_X509] as const;
/** Methods by which a client can prove itself without an administrator: it registers its own keys or gets a secret. */
export const ownMethods = [...secretMethods, 'private_key_jwt', ...certificateMethods, 'none'] as const;
export const TokenEndpointAuthMethod = z.enum([
  ...secretMethods,
  'private_key_jwt',
  ...certificateMethods,
  ...workloadMethods,
  'none',
]);
export type TokenEndpointAuthMethod = z.infer<typeof TokenEndpointAuthMethod>;

export const usesSecret = (method: unknown): boolean => secretMethods.some((one) => one === method);
export const usesCertificate = (method: unknown): boolean => certificateMethods.some((one) => one === method);
export const usesWorkloadToken = (method: unknown): boolean => workloadTokenMethods.some((one) => one === method);
export const usesWorkload = (method: unknown): boolean => workloadMethods.some((one) => one === method);

const name = (longest: number) => text(longest).min(1).nullable();

/** How the certificate of `tls_client_auth` names the client, each with its metadata (RFC 8705 §2.1.2). */
export const certificateNames = {
  tlsClientAuthSubjectDn: 'tls_client_auth_subject_dn',
  tlsClientAuthSanDns: 'tls_client_auth_san_dns',
  tlsClientAuthSanUri: 'tls_client_auth_san_uri',
  tlsClientAuthSanIp: 'tls_client_auth_san_ip',
  tlsClientAuthSanEmail: 'tls_client_auth_san_email',
} as const;
export type CertificateName = keyof typeof certificateNames;
export const CERTIFICATE_NAMES = Object.keys(certificateNames) as CertificateName[];

export const certificateFields = {
  tlsClientAuthSubjectDn: name(1000).describe(
    'tls_client_auth: the subject of its certificate as RFC 4514 writes it, such as CN=billing,O=Example,C=DE. A client has one of this and the next four',
  ),
  tlsClientAuthSanDns: name(253).describe('tls_client_auth: a DNS name among the alternative names of its certificate'),
  tlsClientAuthSanUri: name(2048).describe('tls_client_auth: a URI among them, such as a SPIFFE ID'),
  tlsClientAuthSanIp: name(45).describe('tls_client_auth: an IP address among them'),
  tlsClientAuthSanEmail: name(320).describe('tls_client_auth: an e-mail address among them'),
  tlsClientAuthAuthorities: PemCertificates.nullable().describe(
    'tls_client_auth: the authorities whose certificates count for this client alone, PEM; null: the realm’s',
  ),
  tlsClientCertificateBoundAccessTokens: z
    .boolean()
    .describe('true: its tokens are bound to the certificate of its connection, and work only with it (RFC 8705 §3)'),
};
