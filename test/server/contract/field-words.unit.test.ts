import { expect, test } from 'vitest';
import type { z } from 'zod';
import { RealmDocument } from '../../../server/contract/transfer.ts';

const words = (value: object): string[] => {
  const { error } = RealmDocument.safeParse(value);
  return (error?.issues ?? []).map((i: z.core.$ZodIssue) => `${i.path.join('.')} ${i.message}`);
};

test.each<[object, string]>([
  [{ roles: [{}] }, 'roles.0.name is required'],
  [{ roles: [{ name: '' }] }, 'roles.0.name must not be empty'],
  [{ roles: [{ name: 5 }] }, 'roles.0.name must be a string, not a number'],
  [{ roles: {} }, 'roles must be a list, not an object'],
  [{ roles: [null] }, 'roles.0 must be an object, not null'],
  [{ roles: [{ name: 'x'.repeat(256) }] }, 'roles.0.name must have at most 255 characters'],
  [{ realm: { requireMfa: 'yes' } }, 'realm.requireMfa must be true or false, not a string'],
  [{ realm: { maxLoginFailures: 1.5 } }, 'realm.maxLoginFailures must be a whole number'],
  [{ realm: { maxLoginFailures: 0 } }, 'realm.maxLoginFailures must be at least 1'],
  [{ realm: { passwordMinLength: 129 } }, 'realm.passwordMinLength must be at most 128'],
  [{ realm: { supportedLocales: [] } }, 'realm.supportedLocales must not be empty'],
  [{ realm: { riskLowAction: 'no' } }, 'realm.riskLowAction must be one of allow, step_up, deny'],
  [{ users: [{ username: 'u', email: 'no' }] }, 'users.0.email must be an e-mail address'],
  [{ clientRoles: { ' a': [] } }, 'clientRoles. a has a key that must not begin or end with a blank'],
])('%j', (value, expected) => {
  expect(words(value)).toEqual([expected]);
});
