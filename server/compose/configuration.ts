// The composition root's part for realms' configuration that a start needs: settings, keys, clients, tokens.
// configuration-later.ts has the rest. It decides nothing. Design "Composition root".

import { mutualTlsAddress } from '../config.ts';
import { MASTER } from '../contract/realms.ts';
import { createDpopNonces } from '../crypto/dpop-nonce.ts';
import { createDpop } from '../domain/dpop.ts';
import { createSubjects } from '../domain/subjects.ts';
import { createClientActivity } from '../features/configuration/clients/activity.ts';
import { createClientKeys } from '../features/configuration/clients/keys.ts';
import { createClientViews } from '../features/configuration/clients/view.ts';
import { createEncryption } from '../features/configuration/issued-tokens/encryption.ts';
import { createMint } from '../features/configuration/issued-tokens/mint.ts';
import { createTokens } from '../features/configuration/issued-tokens/service.ts';
import { createKeys } from '../features/configuration/keys/service.ts';
import { createSettings } from '../features/configuration/settings/service.ts';
import { createRemoteDocuments } from '../http/remote-documents.ts';
import type { Observed } from './observation.ts';

export function createConfiguration(below: Observed) {
  const { config, masterKey, caches, outbound, now } = below;
  const keys = createKeys({ ...below, generate: below.generateKeyPair });
  const settings = createSettings({ ...below, keys });
  const subjects = createSubjects({ ...below, settings });
  const nonces = createDpopNonces({ keyring: masterKey, now });
  const dpop = createDpop({ ...below, nonces, certificatesAt: mutualTlsAddress(config) });
  const clients = createClientViews(below);
  const tokens = createTokens({ ...below, keys, settings, clients, dpop });
  const withKeys = createClientKeys(createRemoteDocuments({ outbound, now }));
  const encrypted = createEncryption(withKeys);
  caches.push(settings, keys, subjects, clients);
  return {
    settings,
    keys,
    /** @throws an error of one sentence if the master key is wrong, before anything is encrypted by it */
    readKeys: () =>
      keys.published(MASTER).catch((cause: Error) => {
        throw new Error(`The keys of ${MASTER} can't be read: ${cause.message}`, { cause });
      }),
    subjects,
    dpop,
    clients,
    clientActivity: createClientActivity(below),
    tokens,
    withKeys,
    encrypted,
    mint: createMint({ ...below, tokens, encrypted, subjects, settings }),
  };
}
export type Configuration = Observed & ReturnType<typeof createConfiguration>;
