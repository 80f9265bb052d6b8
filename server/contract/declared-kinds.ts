// Written by `npm run generate` from the contract files that declare a kind.
import { scimTargets } from './scim-targets.ts';

export const declaredKinds = {
  scimTargets,
} as const;
