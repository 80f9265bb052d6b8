// Owns: what a trusted transmitter's token does here: once, to the user whom it names, by the administrator's reactions.
// Does not own: verifying the token (token.ts), fetching tokens (poll-job.ts), a raised risk's points (features/authentication/risk).
// Implements: SSF 1.0 §9; RFC 8935 §2; decisions "Signal transmitter".
import { DAY_MS } from '../../../contract/durations.ts';
import type { By } from '../../../contract/events.ts';
import { Problem } from '../../../contract/problem.ts';
import { type Reaction, reactionFields } from '../../../contract/signal-transmitters.ts';
import type { Seal } from '../../../crypto/seal.ts';
import { sameSecret, sha256 } from '../../../crypto/tokens.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { endAccess } from '../../../domain/end-access.ts';
import { userParty } from '../../../domain/party.ts';
import type { Refusals } from '../../../events/refusals.ts';
import { disableUser } from '../../people/users/disable.ts';
import { transmitterSecret } from './secret.ts';
import * as store from './store.ts';
import { LONGEST_SECONDS, type ReceivedEvent, SetRefusal, type SetVerification, type VerifiedSet } from './token.ts';

/** A raised risk counts for so long. */
const RISK_MS = DAY_MS;
const REMEMBERED_MS = LONGEST_SECONDS * 1000 + DAY_MS;

export interface ReceivingDeps {
  sql: Sql;
  transact: Transact;
  seal: Seal;
  settings: { issuer(realm: string): Promise<string> };
  verification: SetVerification;
  refusals: Pick<Refusals, 'record'>;
  now: () => Date;
}

export function createReceiving({ sql, transact, seal, settings, verification, refusals, now }: ReceivingDeps) {
  const secretOf = transmitterSecret(seal);
  const byOf = ({ name }: store.TransmitterRow, ipAddress: string | null): By => ({
    actor: { type: 'system', id: null, name: `signal transmitter ${name}` },
    ipAddress,
  });

  const reactionTo = ({ reactions }: store.TransmitterRow, { signal }: ReceivedEvent): Reaction =>
    (signal && reactions[reactionFields[signal]]) ?? 'ignore';

  /** Each reaction includes the milder ones, save that a disabled user needs no risk. */
  async function react(tx: Tx, realm: string, by: By, user: store.KnownUser, reaction: Reaction): Promise<void> {
    const at = now();
    if (reaction === 'raiseRisk' || reaction === 'endSessions')
      await store.raiseRisk(tx.sql, realm, user.id, new Date(at.getTime() + RISK_MS));
    if (reaction === 'endSessions') await endAccess(tx, realm, { people: [user.id], cause: 'signal', by, at });
    if (reaction === 'disable') await disableUser(tx, realm, { ...user, by, at });
  }

  /** @param mildest the hardest reaction that is tried: disabling the last administrator is refused */
  const apply = (
    realm: string,
    transmitter: store.TransmitterRow,
    by: By,
    set: VerifiedSet,
    mildest?: Reaction,
  ): Promise<void> =>
    transact(
      realm,
      async (tx) => {
        const until = new Date(now().getTime() + REMEMBERED_MS);
        const jti = sha256(set.jti);
        if (!(await store.isFirst(tx.sql, realm, { transmitter: transmitter.id, jti, until }))) return;
        for (const event of set.events) {
          const wanted = reactionTo(transmitter, event);
          const user = event.subject && (await store.userOf(tx.sql, realm, transmitter, event.subject));
          const reaction = wanted === 'disable' && mildest !== undefined ? mildest : wanted;
          const applied = user ? reaction : 'ignore';
          if (user) await react(tx, realm, by, user, reaction);
          tx.record({
            type: 'SIGNAL_RECEIVED',
            realm,
            by,
            subject: user ? userParty(user.id, user.username) : null,
            outcome: applied === wanted ? 'success' : 'denied',
            data: {
              transmitter: transmitter.name,
              event: event.signal ?? event.uri.slice(0, 255),
              jti: set.jti.slice(0, 255),
              reaction: applied,
              ...(!user && !set.isVerification && { reason: 'the subject is no user here' }),
              ...(user && applied !== wanted && { reason: 'the last administrator is not disabled' }),
            },
          });
        }
      },
      { bookkeeping: true },
    );

  return {
    secretOf,

    pushing: (realm: string, name: string) => store.pushingTransmitter(sql, realm, name),

    /** @throws SetRefusal `authentication_failed` unless the sender has the transmitter's secret, if there is one */
    authenticate(realm: string, transmitter: store.TransmitterRow, authorization: string | undefined): void {
      const secret = secretOf(realm, transmitter);
      if (secret === undefined) return;
      if (!sameSecret(Buffer.from(secret), Buffer.from(authorization ?? '')))
        throw new SetRefusal('authentication_failed', 'The Authorization header is not the one agreed on');
    },

    /** Verifies a token and does what its events demand; a token that came before does nothing. @throws SetRefusal */
    async receive(
      realm: string,
      transmitter: store.TransmitterRow,
      jwt: string,
      ipAddress: string | null,
    ): Promise<void> {
      const by = byOf(transmitter, ipAddress);
      const audience = transmitter.audience ?? (await settings.issuer(realm));
      const { issuer, jwks_uri: jwksUri } = transmitter;
      let set: VerifiedSet;
      try {
        set = await verification.verify(jwt, { issuer, jwksUri, audience });
      } catch (error) {
        if (error instanceof SetRefusal)
          refusals.record({
            type: 'SIGNAL_REFUSED',
            realm,
            by,
            outcome: 'failure',
            data: { transmitter: transmitter.name, error: error.err, reason: error.message },
          });
        throw error;
      }
      try {
        await apply(realm, transmitter, by, set);
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== 'last-administrator') throw error;
        await apply(realm, transmitter, by, set, 'endSessions');
      }
    },
  };
}
export type Receiving = ReturnType<typeof createReceiving>;
