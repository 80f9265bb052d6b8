// Which credentials let the last administrator sign in, beside what the authenticators say.
import { expect, test } from 'vitest';
import { IDENTIFYING } from '../../../server/domain/administrators.ts';
import { createFactors } from '../../../server/domain/factors.ts';
import { createRegistry } from '../../../server/features/authenticators/registry.ts';

test('an administrator can sign in by exactly the credentials that say who a person is', () => {
  const { kinds } = createFactors(createRegistry(Object.create(null)));
  const identifying = kinds.filter(({ identifies }) => identifies).map(({ type }) => type);
  expect(identifying.sort()).toEqual([...IDENTIFYING].sort());
});
