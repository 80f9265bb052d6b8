// The path of a certificate to a trusted root, for attestations of authenticators and FIDO's metadata: signatures, times and
// basic constraints, by node:crypto. It asks no revocation list, so it makes no requests.
import { X509Certificate } from 'node:crypto';

/** The most certificates of a path, without its root. */
const LONGEST = 6;
const LEAST_RSA_BITS = 2048;

const isInTime = ({ validFromDate, validToDate }: X509Certificate, now: Date): boolean =>
  validFromDate <= now && now <= validToDate;
const isStrong = ({
  publicKey: { asymmetricKeyType: type, asymmetricKeyDetails: details },
}: X509Certificate): boolean =>
  type === 'rsa' ? (details?.modulusLength ?? 0) >= LEAST_RSA_BITS : type === 'ec' || type === 'ed25519';
const issued = (by: X509Certificate, one: X509Certificate): boolean =>
  one.checkIssued(by) && by.ca && one.verify(by.publicKey);

/**
 * Whether the first certificate leads to a root through the others. A certificate that is itself among the roots needs no
 * issuer: metadata may name the very certificate of an authenticator.
 * @param presented the leaf first @param roots PEM or DER
 */
export function leadsToRoot(
  presented: readonly (Uint8Array | string)[],
  roots: readonly (Uint8Array | string)[],
  now: Date,
): boolean {
  try {
    const [leaf, ...between] = presented.slice(0, LONGEST + 1).map((one) => new X509Certificate(one));
    if (!leaf || presented.length > LONGEST) return false;
    const anchors = roots.map((one) => new X509Certificate(one)).filter((one) => isInTime(one, now));
    let current = leaf;
    for (let step = 0; step <= LONGEST; step += 1) {
      if (!isInTime(current, now) || !isStrong(current)) return false;
      const one = current;
      if (anchors.some((anchor) => anchor.raw.equals(one.raw) || issued(anchor, one))) return true;
      const next = between.findIndex((candidate) => issued(candidate, one));
      const [found] = next === -1 ? [] : between.splice(next, 1);
      if (!found) return false;
      current = found;
    }
    return false;
  } catch {
    return false;
  }
}
