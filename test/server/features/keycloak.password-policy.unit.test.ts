import { expect, test } from 'vitest';
import { passwordRules } from '../../../server/features/operations/transfer/keycloak/password-policy.ts';

test.each<[string, object, string[]]>([
  ['length(14) and digits(1)', { passwordMinLength: 14, passwordRequireDigit: true }, []],
  ['passwordBlacklist(common.txt)', { guessablePasswordCheck: true }, ['passwordPolicy.passwordBlacklist']],
  ['notContainsUsername(undefined) and notEmail(undefined)', { guessablePasswordCheck: true }, []],
  ['regexPattern(a+)', {}, ['passwordPolicy.regexPattern']],
])('the policy %s becomes settings, and what has no counterpart is told', (policy, settings, told) => {
  const notes: string[] = [];
  expect(passwordRules(policy, (field) => notes.push(field))).toEqual(settings);
  expect(notes).toEqual(told);
});
