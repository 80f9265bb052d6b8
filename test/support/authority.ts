// Owns: the certificate of an authority that issues nothing, for the samples of configuration.
// Does not own: authorities that issue (certificates.ts).
// Implements: tests of fields that hold certificates.
import type { RealmDocument } from '../../server/contract/transfer.ts';

export const SAMPLE_AUTHORITY = [
  '-----BEGIN CERTIFICATE-----',
  'MIIBoDCCAUWgAwIBAgIUTZ1osqz7ZX3C9ccA/tLEwURwczMwCgYIKoZIzj0EAwIw',
  'HDEaMBgGA1UEAwwRRXhhbXBsZSBhdXRob3JpdHkwIBcNMjYxMTI3MTczNTM2WhgP',
  'MjEyNjExMDMxNzM1MzZaMBwxGjAYBgNVBAMMEUV4YW1wbGUgYXV0aG9yaXR5MFkw',
  'EwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEJch6WQ/ucWaGr/bWwGKrJc5cXVjRW/iM',
  'J8Uu3wwXaT3ZwnodlAC/wg+fyOblRJvMCvV/yzkr9b/zLajrL9iuA6NjMGEwHQYD',
  'VR0OBBYEFM+92nNm3VIDXE6mVzyLdxT222KIMB8GA1UdIwQYMBaAFM+92nNm3VID',
  'XE6mVzyLdxT222KIMA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0PAQH/BAQDAgIEMAoG',
  'CCqGSM49BAMCA0kAMEYCIQDe9vX2/WFN3fkOB6IcSyMaVspIJg9bUrQurbKvn0/Y',
  'ZQIhAJPEu5QPuToqfPeyo63/wADw0msyTGfNDknX2mQNcyp5',
  '-----END CERTIFICATE-----',
]
  .join('\n')
  .concat('\n');

type Clients = NonNullable<RealmDocument['clients']>;
const fields: Partial<Clients[number]>[] = [
  { tlsClientAuthSanEmail: 'billing@example.com' },
  { tlsClientAuthSubjectDn: 'CN=a\\, b,O=Ö: #1' },
  { tlsClientAuthSanDns: 'jobs.example.com', tlsClientAuthAuthorities: SAMPLE_AUTHORITY },
  { tlsClientAuthSanUri: 'spiffe://example.org/jobs' },
  { tlsClientAuthSanIp: '2001:db8::1', tlsClientCertificateBoundAccessTokens: true },
];
/** The clients, of which the first five say something of a certificate. */
export const withCertificates = (clients: Clients): Clients =>
  clients.map((client, n) => ({ ...client, ...fields[n] }));
