// Owns: the rules of the grants across domains, loaded with the first request for one.
// Does not own: their terms at the token endpoint (terms.ts).
import { decodeJwt } from 'jose/jwt/decode';
import { createAssertionKeys } from './assertion.ts';
import { createIssuing, type IssueDeps } from './issue.ts';
import { createRedeeming, type RedeemDeps } from './redeem.ts';
import * as store from './store.ts';

export type CrossDomainDeps = IssueDeps & Omit<RedeemDeps, 'assertionKeys'> & Parameters<typeof createAssertionKeys>[0];

export function createCrossDomain(deps: CrossDomainDeps) {
  return {
    issue: createIssuing(deps),
    redeem: createRedeeming({ ...deps, assertionKeys: createAssertionKeys(deps) }),

    async takesUntyped(realm: string, assertion: string): Promise<boolean> {
      let issuer: string | undefined;
      try {
        issuer = decodeJwt(assertion).iss;
      } catch {
        return false;
      }
      return typeof issuer === 'string' && !issuer.includes('\0') && store.takesUntyped(deps.sql, realm, issuer);
    },
  };
}
