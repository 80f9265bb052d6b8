// Who writes an object that nobody of the realm does, as a client that registers itself or metadata that is fetched again: somebody
// without any permission, so that what is written can give none.
import type { By } from '../contract/events.ts';
import type { Principal } from '../domain/principal.ts';
import type { Caller } from './api.ts';

const nobody: Principal = {
  type: 'client',
  id: 'nobody',
  name: 'nobody',
  realm: '',
  permissions: new Map(),
  limited: [],
  registers: true,
  expiresAt: null,
};
export const callerOf = (by: By): Caller => ({ principal: nobody, by, expect: () => {} });
