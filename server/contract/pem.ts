// Certificates in PEM (RFC 7468), as fields.
import { text } from './names.ts';

const ONE = /^\s*-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----\s*$/;
const SOME = /^\s*(-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----\s*)+$/;

export const PemCertificate = text(20_000).regex(ONE, 'must be a certificate in PEM');
/** A few dozen fit. */
export const PemCertificates = text(100_000).regex(SOME, 'must be certificates in PEM');
