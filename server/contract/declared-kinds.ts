// Written by `npm run generate` from the contract files that declare a kind.
import { messageTexts } from './message-texts.ts';
import { scimTargets } from './scim-targets.ts';
import { userFederation } from './user-federation.ts';

export const declaredKinds = {
  messageTexts,
  scimTargets,
  userFederation,
} as const;
