// The composition root's part for realms' configuration that a start doesn't need: resources, flows, messages,
// languages. It decides nothing. Design "Composition root".
import { createFlowTrees } from '../features/configuration/flows/trees.ts';
import { createLanguages } from '../features/configuration/message-texts/languages.ts';
import { createMessaging } from '../features/configuration/messaging/service.ts';
import { samlMetadataRefresh } from '../features/configuration/saml-clients/refresh.ts';
import { createResources } from './resources.ts';
import type { Start } from './start.ts';

export function createLaterConfiguration(below: Start) {
  const messaging = createMessaging({ ...below, tried: below.metrics.message });
  const languages = createLanguages(below);
  const resources = createResources(below);
  const flowTrees = createFlowTrees(below);
  below.caches.push(messaging, languages, flowTrees);
  return {
    messaging,
    /** The function by which other features send messages. */
    send: messaging.send,
    notify: messaging.notify,
    sends: messaging.sends,
    pushTokens: messaging.pushTokens,
    languages,
    resources,
    flowTrees,
    metadataRefresh: samlMetadataRefresh({ ...below, of: resources.samlClients }),
  };
}
export type LaterConfiguration = Start & ReturnType<typeof createLaterConfiguration>;
