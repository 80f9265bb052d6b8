// The grants whose client polls until a user has decided elsewhere: a device's code, until the user decides in a browser (RFC 8628
// §3.4, §3.5), and a backchannel request, until the user decides on a device (CIBA Core §10.1, §11). Then the code is redeemed like any
// other (code.ts).
import type { z } from 'zod';
import { CIBA, DEVICE_CODE, type GrantType, grantBodies } from '../../../contract/oauth.ts';
import { sha256, type TokenPrefix, wellFormed } from '../../../crypto/tokens.ts';
import type { RealmSql } from '../../../db/realm-share.ts';
import type { Fragment } from '../../../db/sql.ts';
import { codeTables } from '../../../domain/grants.ts';
import { pollCode } from '../../../domain/polled-codes.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import { type CodeDeps, createCodes } from './code.ts';
import type { Grant } from './grant.ts';
import { judgePoll, judgePolledCode, type Wanted } from './judge.ts';

export type PollingDeps = CodeDeps & { realmSql: RealmSql };

interface PolledCode {
  grantType: GrantType;
  table: Fragment;
  prefix: TokenPrefix;
  /** The code in a sentence. */
  what: string;
}
const device: PolledCode = {
  grantType: DEVICE_CODE,
  table: codeTables.device,
  prefix: 'svc_dc_',
  what: 'The device code',
};
const backchannel: PolledCode = {
  grantType: CIBA,
  table: codeTables.backchannel,
  prefix: 'svc_ba_',
  what: 'The auth_req_id',
};

const codesOf = (deps: CodeDeps, { grantType, table, what }: PolledCode) =>
  createCodes<Wanted>(deps, { grantType, table, judge: (row, request) => judgePolledCode(row, request, what) });

/** Issues the tokens of a backchannel request that the user has approved. */
export const backchannelCodes = (deps: CodeDeps) => codesOf(deps, backchannel);

function polledGrant<Body extends z.ZodObject>(
  deps: PollingDeps,
  polled: PolledCode,
  {
    body,
    clientAuth,
    allowedTo,
    codeOf,
  }: {
    body: Body;
    clientAuth: 'proof' | 'any';
    allowedTo?: (client: ClientView) => boolean;
    codeOf(given: z.output<Body>): string;
  },
): Grant<Body> {
  const { grantType, table, prefix, what } = polled;
  const tokensFor = codesOf(deps, polled);
  return {
    grantType,
    body,
    clientAuth,
    ...(allowedTo && { allowedTo }),
    scopePolicy: 'granted',
    resourcePolicy: 'granted',
    takesDetails: true,
    ownBehalf: () => false,
    async authorize(call) {
      const { realm, client } = call;
      const code = codeOf(call.body);
      if (!wellFormed(code, prefix))
        throw new OAuthError('invalid_grant', `${what} is not valid`, { reason: 'not such a code' });
      const [hash, now] = [sha256(code), deps.now()];
      const poll = await pollCode(deps.realmSql(realm), realm, { table, hash, client: client.id, now });
      const wait = judgePoll(poll, now, what);
      // Polling is the normal case, so it writes no event.
      if (wait) throw new OAuthError(wait.error, wait.description, { status: 400, audited: poll !== undefined });
      return tokensFor(call, hash, {});
    },
  };
}

export const deviceGrant = (deps: PollingDeps): Grant<(typeof grantBodies)[typeof DEVICE_CODE]> =>
  polledGrant(deps, device, {
    body: grantBodies[DEVICE_CODE],
    clientAuth: 'any',
    codeOf: (given) => given.device_code,
  });

export const backchannelGrant = (deps: PollingDeps): Grant<(typeof grantBodies)[typeof CIBA]> =>
  polledGrant(deps, backchannel, {
    body: grantBodies[CIBA],
    clientAuth: 'proof',
    // CIBA §11: a client that gets its tokens pushed may not poll.
    allowedTo: ({ grantTypes, tokensArePushed }) => grantTypes.has(CIBA) && !tokensArePushed,
    codeOf: (given) => given.auth_req_id,
  });
