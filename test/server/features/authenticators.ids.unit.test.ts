// The list that the wire and the CRDs go by is the registry's.
import { expect, test } from 'vitest';
import { authenticatorIds } from '../../../server/contract/flows.ts';
import { createRegistry } from '../../../server/features/authentication/authenticators/registry.ts';

test('every authenticator of the registry is in the contract’s list, and no other', () => {
  // it is asked for ids alone, so what it works with isn't needed
  const registry = createRegistry(Object.create(null));
  expect(registry.map(({ id }) => id)).toEqual([...authenticatorIds]);
});
