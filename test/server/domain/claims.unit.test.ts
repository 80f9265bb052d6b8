// Owns: what a client scope can't say in a token, whoever may edit scopes.
// Does not own: what it can (features/oidc.test.ts).
// Implements: specification 4.10; decisions "Rights": nobody can give what they do not hold.
import { describe, expect, test } from 'vitest';
import { freshClaim } from '../../../server/contract/claims.ts';
import { type ClaimView, claimsOf } from '../../../server/domain/claims.ts';
import { claimFaults } from '../../../server/features/configuration/claims/rules.ts';

const roles = { realm: ['reader'], clients: { billing: ['clerk'] } };
const at = { realm: 'acme', baseUrl: 'https://id.example.com' };
const claimOf = (given: Partial<ClaimView> & { name: string }): ClaimView => {
  const { claim: _, ...fresh } = freshClaim;
  return { ...fresh, in: ['accessToken'], ...given };
};
const given = (claim: ClaimView) => claimsOf([{ claims: [claim] }], { roles }, 'accessToken');
const refused = (claim: ClaimView) => claimFaults({ ...claim, claim: null }, at).length > 0;

describe('roles in a token', () => {
  test.each(['realm_access', 'realm_access.roles', 'resource_access', 'resource_access.billing'])(
    '%s is never what somebody wrote into a scope',
    (name) => {
      const claim = claimOf({ name, source: 'constant', value: 'realm-admin' });
      expect(refused(claim)).toBe(true);
      // one that was stored before is passed over
      expect(given(claim)).toEqual({});
    },
  );

  test.each<[string, Partial<ClaimView>]>([
    ['realm_access.roles', { source: 'clientRoles', value: 'billing' }],
    ['realm_access', { source: 'clientRoles' }],
    ['resource_access', { source: 'roles' }],
    ['resource_access', { source: 'clientRoles', value: 'billing' }],
    ['resource_access.shop', { source: 'clientRoles', value: 'billing' }],
    ['resource_access.shop.roles', { source: 'clientRoles', value: 'billing' }],
    ['resource_access.shop', { source: 'clientRoles' }],
    ['resource_access..roles', { source: 'clientRoles' }],
  ])('%s is never made of roles that are held elsewhere', (name, more) => {
    const claim = claimOf({ name, ...more });
    expect(refused(claim)).toBe(true);
    expect(given(claim)).toEqual({});
  });

  test('of one client are that client’s', () => {
    for (const name of ['resource_access.billing', 'resource_access.billing.roles'])
      expect(refused(claimOf({ name, source: 'clientRoles', value: 'billing' }))).toBe(false);
    const claim = claimOf({ name: 'resource_access.billing', source: 'clientRoles', value: 'billing' });
    expect(given(claim)).toEqual({ resource_access: { billing: ['clerk'] } });
  });

  test('are those that somebody holds', () => {
    const claim = claimOf({ name: 'realm_access', source: 'roles' });
    expect(refused(claim)).toBe(false);
    expect(given(claim)).toEqual({ realm_access: { roles: ['reader'] } });
  });

  test.each(['sub', 'client_id', 'gid', 'sid', 'workload', '__proto__', 'constructor', 'workload.issuer'])(
    'nor can a scope say %s, which makes a token somebody’s',
    (name) => {
      const claim = claimOf({ name, source: 'constant', value: 'operator' });
      expect(given(claim)).toEqual({});
    },
  );
});
