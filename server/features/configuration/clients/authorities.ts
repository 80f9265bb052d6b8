// The certificates of authorities, as an administrator declares them for a realm or a client (RFC 8705 §2.1). Pure.
import { X509Certificate } from 'node:crypto';
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
