// Written by `npm run generate` from the contract files that declare a kind.
import { captchas } from './captchas.ts';
import { messageTexts } from './message-texts.ts';
import { scimTargets } from './scim-targets.ts';
import { userFederation } from './user-federation.ts';

export const declaredKinds = {
  captchas,
  messageTexts,
  scimTargets,
  userFederation,
} as const;
