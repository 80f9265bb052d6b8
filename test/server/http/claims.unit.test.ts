// Owns: what a client scope can't say in a token, whoever may edit scopes.
// Does not own: what it can (features/oidc.test.ts).
// Implements: specification 4.10; decisions "Rights": nobody can give what they do not hold.
import { describe, expect, test } from 'vitest';
import { Claim } from '../../../server/contract/client-scopes.ts';
import { claimsOf } from '../../../server/http/claims.ts';

const roles = { realm: ['reader'], clients: { billing: ['clerk'] } };
const given = (claim: Claim) =>
  claimsOf([{ name: 'scope', description: null, inTokenScope: true, claims: [claim] }], { roles }, 'accessToken');

describe('roles in a token', () => {
  test.each(['realm_access', 'realm_access.roles', 'resource_access', 'resource_access.billing'])(
    '%s is never what somebody wrote into a scope',
    (name) => {
      const claim: Claim = { name, source: 'constant', value: 'realm-admin', accessToken: true };
      expect(Claim.safeParse(claim).success).toBe(false);
      // one that was stored before is passed over
      expect(given(claim)).toEqual({});
    },
  );

  test('are those that somebody holds', () => {
    const claim: Claim = { name: 'realm_access', source: 'roles', accessToken: true };
    expect(Claim.safeParse(claim).success).toBe(true);
    expect(given(claim)).toEqual({ realm_access: { roles: ['reader'] } });
  });

  test.each(['sub', 'client_id', 'gid', 'sid', 'workload', '__proto__', 'constructor', 'workload.issuer'])(
    'nor can a scope say %s, which makes a token somebody’s',
    (name) => {
      const claim: Claim = { name, source: 'constant', value: 'operator', accessToken: true };
      expect(given(claim)).toEqual({});
    },
  );
});
