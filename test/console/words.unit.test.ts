// Owns: names of fields and kinds as the console writes them.
// Does not own: the pages that show them.
import { expect, test } from 'vitest';
import { inSentence, itemName, labelOf } from '../../console/kinds/words.ts';

test.each([
  ['redirectUris', 'Redirect URIs', 'redirect URIs', 'redirect URI'],
  ['caCertificate', 'CA certificate', 'CA certificate', 'CA certificate'],
  ['urls', 'URLs', 'URLs', 'URL'],
  ['ipAddress', 'IP address', 'IP address', 'IP address'],
  ['idpInitiated', 'IdP initiated', 'IdP initiated', 'IdP initiated'],
  ['samlClients', 'SAML clients', 'SAML clients', 'SAML client'],
  ['policies', 'Policies', 'policies', 'policy'],
  ['addresses', 'Addresses', 'addresses', 'address'],
  ['idTokenSignedResponseAlg', 'ID token signed response algorithm', 'ID token signed response algorithm', undefined],
  ['reviewIntervalDays', 'Review interval in days', 'review interval in days', undefined],
  ['captchas', 'CAPTCHAs', 'CAPTCHAs', 'CAPTCHA'],
  ['primaryColor', 'Primary colour', 'primary colour', undefined],
  ['lockoutDurationSeconds', 'Lockout duration', 'lockout duration', undefined],
])('%s reads as %s', (name, label, within, item) => {
  expect(labelOf(name)).toBe(label);
  expect(inSentence(label)).toBe(within);
  if (item !== undefined) expect(itemName(label)).toBe(item);
});
