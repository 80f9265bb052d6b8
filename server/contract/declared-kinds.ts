// Written by `npm run generate` from the contract files that declare a kind.
import { scimTargets } from './scim-targets.ts';
import { userFederation } from './user-federation.ts';

export const declaredKinds = {
  scimTargets,
  userFederation,
} as const;
