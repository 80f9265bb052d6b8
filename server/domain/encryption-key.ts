// Which of a client's public keys something is encrypted for. Pure. RFC 7517 §4.2, §4.4; RFC 7518 §4.1.
import type { KeyEncryptionAlgorithm } from '../contract/algorithms.ts';

export interface PublicJwk {
  kty?: unknown;
  crv?: unknown;
  use?: unknown;
  alg?: unknown;
  kid?: unknown;
}

/** Ed25519 and Ed448 keys only sign. */
const CURVES: ReadonlySet<unknown> = new Set(['P-256', 'P-384', 'P-521', 'X25519']);

const fits = ({ kty, crv, use, alg: named }: PublicJwk, alg: KeyEncryptionAlgorithm): boolean => {
  if (use !== undefined && use !== 'enc') return false;
  if (named !== undefined && named !== alg) return false;
  return alg.startsWith('RSA') ? kty === 'RSA' : (kty === 'EC' || kty === 'OKP') && CURVES.has(crv);
};

/** The key for this algorithm: one that says so rather than one that says nothing of its use; undefined: none fits. */
export function encryptionKeyFor<Key extends PublicJwk>(
  keys: readonly Key[],
  alg: KeyEncryptionAlgorithm,
): Key | undefined {
  const fitting = keys.filter((key) => fits(key, alg));
  return (
    fitting.find((key) => key.use === 'enc' && key.alg === alg) ??
    fitting.find((key) => key.use === 'enc' || key.alg === alg) ??
    fitting[0]
  );
}
