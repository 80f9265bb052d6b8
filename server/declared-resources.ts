// Written by `npm run generate` from the contract files that declare a kind.
import { captchasResource } from './features/configuration/captchas/resource.ts';
import { messageTextsResource } from './features/configuration/message-texts/resource.ts';
import { scimTargetsResource } from './features/configuration/scim-targets/resource.ts';
import { userFederationResource } from './features/people/user-federation/resource.ts';
import type { ResourceDeps } from './resource/declared.ts';

export const declaredResources = (deps: ResourceDeps) => ({
  captchas: captchasResource(deps),
  messageTexts: messageTextsResource(deps),
  scimTargets: scimTargetsResource(deps),
  userFederation: userFederationResource(deps),
});
