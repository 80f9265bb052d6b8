// Who provisions, and under which condition.
import type { By } from '../../../contract/events.ts';
import type { Principal } from '../../../domain/principal.ts';
import type { Expect } from '../../../http/etag.ts';
import type { Provisioner } from './tokens.ts';

export interface Caller {
  principal: Principal;
  by: By;
  expect: Expect;
  /** Whether there is a condition at all. */
  conditional: boolean;
}

/** Holds no permission, so that nobody who administers can be changed or taken over by a SCIM token. */
export const principalOf = (realm: string, { id, name }: Pick<Provisioner, 'id' | 'name'>): Principal => ({
  type: 'client',
  id,
  name,
  realm,
  permissions: new Map(),
  limited: [],
  expiresAt: null,
});
