// Written by `npm run generate` from the contract files that declare a kind.
import { captchasResource } from './features/captchas/resource.ts';
import { messageTextsResource } from './features/message-texts/resource.ts';
import { scimTargetsResource } from './features/scim-targets/resource.ts';
import { userFederationResource } from './features/user-federation/resource.ts';
import type { ResourceDeps } from './resource/declared.ts';

export const declaredResources = (deps: ResourceDeps) => ({
  captchas: captchasResource(deps),
  messageTexts: messageTextsResource(deps),
  scimTargets: scimTargetsResource(deps),
  userFederation: userFederationResource(deps),
});
