// Validates PEM certificates, and converts them to one form. Pure.
import { X509Certificate } from 'node:crypto';

/** Normalizes PEM with any line breaks, or its content alone. */
export function pem(text: string): string {
  const content = text.replaceAll(/-----(?:BEGIN|END) CERTIFICATE-----|\s+/g, '');
  return `-----BEGIN CERTIFICATE-----\n${content.match(/.{1,64}/g)?.join('\n') ?? ''}\n-----END CERTIFICATE-----\n`;
}

export function isCertificate(text: string): boolean {
  try {
    return new X509Certificate(text).publicKey !== undefined;
  } catch {
    return false;
  }
}
