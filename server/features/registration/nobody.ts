// Who registers a client that nobody of the realm makes: somebody without any permission, so that it can't have one either.
import type { By } from '../../contract/events.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Caller } from '../../resource/api.ts';

const nobody: Principal = {
  type: 'client',
  id: 'registration',
  name: 'registration',
  realm: '',
  permissions: new Map(),
  limited: [],
  expiresAt: null,
};
export const callerOf = (by: By): Caller => ({ principal: nobody, by, expect: () => {} });
