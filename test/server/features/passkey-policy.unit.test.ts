// Owns: which model the root of a maker proves, where the maker has one root for all its devices.
// Does not own: attestations that a realm accepts (passkey-policy.test.ts).
// Implements: WebAuthn Level 3 §8.4, §8.8.
import { beforeAll, expect, test } from 'vitest';
import type { AuthenticatorEntry } from '../../../server/features/people/credentials/authenticator-metadata.ts';
import { isProven } from '../../../server/features/people/credentials/passkey-policy.ts';
import type { Made } from '../../support/certificates.ts';
import { makeCertificate } from '../../support/certificates.ts';
import { authority } from '../../support/fido-metadata.ts';

const ANDROID = 'b93fd961-f2e6-462f-b122-82002247de78';
const APPLE = 'f24a8e70-d0d3-f82c-2937-32523cc4de5a';
const SECURITY_KEY = 'ee882879-721c-4913-9775-3dfcce97072a';
let maker: Made;
let listed: AuthenticatorEntry;
let certificates: Buffer[];
beforeAll(async () => {
  maker = await authority('CN=Root of a maker of phones');
  const other = await authority('CN=Root of a maker of keys');
  listed = { description: '', roots: [other.der.toString('base64')], certification: 'L2', statuses: [] };
  certificates = [(await makeCertificate({ subject: 'CN=Key of a phone', by: maker })).der];
});

test.each([
  ['android-key', ANDROID, true],
  ['apple', APPLE, true],
  ['android-key', SECURITY_KEY, false],
  ['android-key', APPLE, false],
  ['apple', SECURITY_KEY, false],
  ['packed', ANDROID, false],
])('a key of a phone with an attestation %s as the model %s: proven is %s', (format, aaguid, proven) => {
  const ownRoots = { 'android-key': [maker.pem], apple: [maker.pem] };
  const make = { aaguid, format, certificates, synced: false };
  for (const entry of [undefined, listed]) expect(isProven(make, entry, { ownRoots, now: new Date() })).toBe(proven);
});
