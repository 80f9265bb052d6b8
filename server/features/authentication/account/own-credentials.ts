// Users set up and remove their own credentials through the account API. features/people/credentials defines the
// credentials.
import { z } from 'zod';
import { faultAt, Problem } from '../../../contract/problem.ts';
import type { Credential } from '../../../contract/users.ts';
import { otpAddress } from '../../../crypto/otp.ts';
import { newSecret } from '../../../crypto/tokens.ts';
import type { AccountHolder } from '../../../domain/principal.ts';
import type { Site } from '../../../domain/site.ts';
import type { Passkeys } from '../../people/credentials/passkeys.ts';
import type { RecoveryCodes } from '../../people/credentials/recovery-codes.ts';
import type { Credentials } from '../../people/credentials/service.ts';
import type { UserCodes } from '../../people/credentials/user-codes.ts';
import type { Enrolments } from '../../people/devices/enrolment.ts';
import type { Links } from '../brokering/links.ts';
import type { AsThemselves } from './as-themselves.ts';
import type { AccountWrite } from './own-details.ts';
import type { OwnIdentities } from './own-identities.ts';
import { PASSWORD } from './sign-in-methods.ts';
import type { Tickets } from './tickets.ts';
import type { WaysLeft } from './ways-left.ts';

export interface OwnCredentialsDeps {
  credentials: Pick<Credentials, 'list' | 'remove' | 'newOtpSecret' | 'enrolOtp'>;
  passkeys: Pick<Passkeys, 'creation' | 'enrol'>;
  recoveryCodes: Pick<RecoveryCodes, 'generate' | 'enrol'>;
  userCodes: Pick<UserCodes, 'hash' | 'enrol'>;
  enrolments: Pick<Enrolments, 'offer' | 'urlOf'>;
  links: Pick<Links, 'list'>;
  ownIdentities: OwnIdentities;
  waysLeft: WaysLeft;
  settings: { of(realm: string): Promise<{ displayName: string } | undefined> };
  asThemselves: AsThemselves;
  tickets: Tickets;
}
const Secret = z.string();
const plain = (label: string | undefined): string | null => label?.trim() || null;
const userOf = ({ userId: id, username }: AccountHolder) => ({ id, username });
const last = () => new Problem('wrong-state', 'This is your last way to sign in: set up another one first');

export function createOwnCredentials(deps: OwnCredentialsDeps) {
  const {
    credentials,
    passkeys,
    recoveryCodes,
    userCodes,
    enrolments,
    links,
    ownIdentities,
    waysLeft,
    settings,
    asThemselves,
    tickets,
  } = deps;
  const nameOf = async (realm: string): Promise<string> => (await settings.of(realm))?.displayName ?? realm;

  return {
    list: (realm: string, { userId }: AccountHolder): Promise<Credential[]> => credentials.list(realm, userId),

    remove: ({ realm, holder, by }: AccountWrite, { type, id }: { type: string; id: string }): Promise<void> =>
      asThemselves.write(realm, holder, async (tx) => {
        const all = await credentials.list(realm, holder.userId, tx.sql);
        if (!all.some((one) => one.id === id && one.type === type)) throw new Problem('not-found');
        if (type === PASSWORD) throw new Problem('wrong-state', 'A password cannot be removed: change it instead');
        if (!(await waysLeft(tx.sql, realm, holder.userId, id))) throw last();
        const keep = asThemselves.keep(holder);
        await credentials.remove(tx, by, realm, userOf(holder), { type, id, ...(keep && { keep }) });
      }),

    async startOtp(realm: string, holder: AccountHolder) {
      const secret = credentials.newOtpSecret();
      const address = otpAddress(secret, { issuer: await nameOf(realm), account: holder.username });
      return { ticket: tickets.issue(realm, holder, 'otp', secret).ticket, secret, address };
    },
    async enrolOtp(
      { realm, holder, by }: AccountWrite,
      { ticket, code, label }: { ticket: string; code: string; label?: string | undefined },
    ): Promise<{ id: string }> {
      const secret = Secret.parse(tickets.open(realm, holder, 'otp', ticket));
      const shown = { secret, code: code.replace(/[\s-]/g, ''), label: plain(label) };
      return asThemselves.write(realm, holder, async (tx) => {
        await tickets.use(tx.sql, realm, ticket);
        const id = await credentials.enrolOtp(tx, by, realm, userOf(holder), shown);
        if (id === undefined) throw faultAt('code', 'is wrong');
        return { id };
      });
    },

    async startPasskey(realm: string, holder: AccountHolder, site: Site) {
      const challenge = newSecret();
      const made = { site, realmName: await nameOf(realm), challenge };
      const publicKey = await passkeys.creation(realm, userOf(holder), made);
      return { ticket: tickets.issue(realm, holder, 'webauthn', challenge).ticket, publicKey: { ...publicKey } };
    },
    async enrolPasskey(
      { realm, holder, by }: AccountWrite,
      site: Site,
      { ticket, response, label }: { ticket: string; response: object; label?: string | undefined },
    ): Promise<{ id: string }> {
      const challenge = Secret.parse(tickets.open(realm, holder, 'webauthn', ticket));
      const made = { sent: JSON.stringify(response), site, challenge, label: plain(label) };
      return asThemselves.write(realm, holder, async (tx) => {
        await tickets.use(tx.sql, realm, ticket);
        const key = await passkeys.enrol(tx, by, realm, userOf(holder), made);
        if (!key.ok && key.reason !== 'invalid')
          throw faultAt('response', `is of an authenticator that the realm does not accept (${key.reason})`);
        if (!key.ok) throw faultAt('response', 'is not a valid new passkey: get a ticket and try again');
        return { id: key.credentialId };
      });
    },

    makeRecoveryCodes: ({ realm, holder, by }: AccountWrite): Promise<{ id: string; codes: string[] }> => {
      const codes = recoveryCodes.generate();
      return asThemselves.write(realm, holder, async (tx) => {
        const { now: id } = await recoveryCodes.enrol(tx, by, realm, userOf(holder), codes);
        return { id, codes };
      });
    },

    async chooseUserCode({ realm, holder, by }: AccountWrite, code: string): Promise<{ id: string }> {
      const phc = await userCodes.hash(code);
      return asThemselves.write(realm, holder, async (tx) => ({
        id: await userCodes.enrol(tx, by, realm, userOf(holder), phc),
      }));
    },

    offerEnrolment: ({ realm, holder, by }: AccountWrite) =>
      asThemselves.write(realm, holder, async (tx) => {
        const { token, expiresAt } = await enrolments.offer(tx, by, realm, userOf(holder));
        return { token, url: enrolments.urlOf(realm, token), expiresAt: expiresAt.getTime() };
      }),

    identities: (realm: string, { userId }: AccountHolder) => links.list(realm, userId),

    removeIdentity: ({ realm, holder, by }: AccountWrite, id: string): Promise<void> =>
      asThemselves.write(realm, holder, async (tx) => {
        const which = { id, keep: asThemselves.keep(holder) };
        const done = await ownIdentities.remove(tx, by, realm, userOf(holder), which);
        if (done === 'absent') throw new Problem('not-found');
        if (done === 'last') throw last();
      }),
  };
}
export type OwnCredentials = ReturnType<typeof createOwnCredentials>;
