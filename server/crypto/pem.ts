// PEM (RFC 7468).

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates in a text, each in PEM. */
export const certificatesInPem = (text: string): string[] => text.match(CERTIFICATE) ?? [];
