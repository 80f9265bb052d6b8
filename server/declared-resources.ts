// Written by `npm run generate` from the contract files that declare a kind.
import { messageTextsResource } from './features/message-texts/resource.ts';
import { scimTargetsResource } from './features/scim-targets/resource.ts';
import { userFederationResource } from './features/user-federation/resource.ts';
import type { ResourceDeps } from './resource/declared.ts';

export const declaredResources = (deps: ResourceDeps) => ({
  messageTexts: messageTextsResource(deps),
  scimTargets: scimTargetsResource(deps),
  userFederation: userFederationResource(deps),
});
