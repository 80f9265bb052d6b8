// The caller of a SCIM write: the provisioning client, with its `If-Match` condition.
import type { By } from '../../../contract/events.ts';
import type { Principal } from '../../../domain/principal.ts';
import type { Expect } from '../../../http/etag.ts';
import type { Provisioner } from './tokens.ts';

export interface Caller {
  principal: Principal;
  by: By;
  expect: Expect;
  /** Whether the request has an `If-Match` header. */
  conditional: boolean;
}

/** A principal without permissions, so that a SCIM token can't change or take over an administrator. */
export const principalOf = (realm: string, { id, name }: Pick<Provisioner, 'id' | 'name'>): Principal => ({
  type: 'client',
  id,
  name,
  realm,
  permissions: new Map(),
  limited: [],
  expiresAt: null,
});
