// The tokens of a backchannel request that the server pushes to the client: issued as if the client had polled (polled.ts).
// OpenID Connect CIBA §10.3.1.

import { CIBA } from '../../../contract/oauth.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { partyOfClient } from '../../../domain/agents.ts';
import { presentResources } from '../../../domain/resource-indicators.ts';
import { adminAudience } from '../../../http/own-addresses.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import { demandProfile } from '../client-authentication/service.ts';
import { backchannelCodes, type PollingDeps } from './polled.ts';
import { answerOf } from './service.ts';

export interface PushedDeps extends PollingDeps {
  metrics: { tokenIssued(realm: string, grant: string): void };
  baseUrl: string;
}
export interface PushedTokens {
  realm: string;
  settings: RealmSettingsDto;
  client: ClientView;
  authReqId: string;
  /** The digest of the auth_req_id. */
  hash: Buffer;
}

export function createPushedTokens(deps: PushedDeps) {
  const tokensFor = backchannelCodes(deps);
  const adminResource = adminAudience(deps.baseUrl);

  /** @returns the answer of the token endpoint. @throws OAuthError the refusal; a second call ends the tokens of the first one */
  return async ({ realm, settings, client, authReqId, hash }: PushedTokens): Promise<Record<string, unknown>> => {
    demandProfile(client);
    const rules = { realmList: settings.resourceIndicators, client, adminAudience: adminResource, ownBehalf: false };
    const granted = await tokensFor(
      {
        realm,
        ipAddress: '',
        body: {},
        settings,
        who: { client, confidential: true },
        client,
        resources: [],
        presentResources: () => presentResources(rules),
        details: undefined,
        sender: {},
        cnf: undefined,
        requestedScopes: undefined,
        scopes: [],
        by: { actor: partyOfClient(client), ipAddress: null },
      },
      hash,
      {},
      authReqId,
    );
    deps.metrics.tokenIssued(realm, CIBA);
    return JSON.parse(answerOf({ ...granted, cnf: undefined }));
  };
}
export type PushTokens = ReturnType<typeof createPushedTokens>;
