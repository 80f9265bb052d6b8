// Which credentials let the last administrator sign in, beside what the authenticators say.
import { expect, test } from 'vitest';
import { bySystem, type DomainEvent } from '../../../server/contract/events.ts';
import { IDENTIFYING, lastAdministratorStays } from '../../../server/domain/administrators.ts';
import { createFactors } from '../../../server/domain/factors.ts';
import { createRegistry } from '../../../server/features/authentication/authenticators/registry.ts';

test('an administrator can sign in by exactly the credentials that say who a person is', () => {
  const { kinds } = createFactors(createRegistry(Object.create(null)));
  const identifying = kinds.filter(({ identifies }) => identifies).map(({ type }) => type);
  expect(identifying.sort()).toEqual([...IDENTIFYING].sort());
});

const event = (type: DomainEvent['type'], data: object = {}, realm = 'master'): DomainEvent => ({
  ...{ type, realm, by: bySystem, data: { ...data } },
});

test.each([
  ['the deletion of a user', [event('USER_DELETED')], true],
  ['a user who is disabled or enabled', [event('USER_UPDATED', { fields: ['enabled'] })], true],
  ['a user whose name changes', [event('USER_UPDATED', { fields: ['firstName'] })], false],
  ['a password that is deleted', [event('CREDENTIAL_DELETED', { type: 'password' })], true],
  ['an authenticator app that is deleted', [event('CREDENTIAL_DELETED', { type: 'otp' })], false],
  ['an admin role that is given', [event('ADMIN_GRANT_CHANGED', { given: [{}], taken: [] })], false],
  ['a sign-in', [event('LOGIN_SUCCESS'), event('TOKEN_ISSUED')], false],
  ['another realm', [event('USER_DELETED', {}, 'acme')], false],
  [
    'a sign-in that the user reports as a stranger’s',
    [event('SIGN_IN_REPORTED'), event('CREDENTIAL_DELETED', { type: 'webauthn' })],
    false,
  ],
])('%s: whether a transaction is judged for it', (_, events, judged) => {
  expect(lastAdministratorStays.concerns(events)).toBe(judged);
});
