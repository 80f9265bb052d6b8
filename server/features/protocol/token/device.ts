// The device_code grant: a device polls until a user has decided in a browser. Then its code is redeemed like any other
// (code.ts). RFC 8628 §3.4, §3.5.
import { DEVICE_CODE, grantBodies } from '../../../contract/oauth.ts';
import { sha256, wellFormed } from '../../../crypto/tokens.ts';
import type { RealmSql } from '../../../db/realm-share.ts';
import { pollDevice } from '../../../domain/device-codes.ts';
import { codeTables } from '../../../domain/grants.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import { type CodeDeps, createCodes } from './code.ts';
import type { Grant } from './grant.ts';
import { judgeDeviceCode, judgePoll, type Wanted } from './judge.ts';

export function deviceGrant(deps: CodeDeps & { realmSql: RealmSql }): Grant<(typeof grantBodies)[typeof DEVICE_CODE]> {
  const { device: table } = codeTables;
  const tokensFor = createCodes<Wanted>(deps, { grantType: DEVICE_CODE, table, judge: judgeDeviceCode });
  return {
    grantType: DEVICE_CODE,
    body: grantBodies[DEVICE_CODE],
    clientAuth: 'any',
    scopePolicy: 'granted',
    resourcePolicy: 'granted',
    takesDetails: true,
    ownBehalf: () => false,
    async authorize(call) {
      const { realm, client, body } = call;
      if (!wellFormed(body.device_code, 'svc_dc_'))
        throw new OAuthError('invalid_grant', 'The device code is not valid', { reason: 'not a device code' });
      const [hash, now] = [sha256(body.device_code), deps.now()];
      const poll = await pollDevice(deps.realmSql(realm), realm, { hash, client: client.id, now });
      const wait = judgePoll(poll, now);
      // Polling is the normal case, so it writes no event.
      if (wait) throw new OAuthError(wait.error, wait.description, { status: 400, audited: poll !== undefined });
      return tokensFor(call, hash, {});
    },
  };
}
