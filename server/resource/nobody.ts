// The author of writes without an administrator: a client that registers itself, metadata that is fetched again. It has no permission, so
// the written object can't give any.
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
/** The caller of a write that no principal asked for; it expects no revision. */
export const callerOf = (by: By): Caller => ({ principal: nobody, by, expect: () => {} });
