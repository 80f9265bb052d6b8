// Owns: invitations: made, sent again and revoked by administrators, accepted once by a user with the link and the address.
// Does not own: members (organizations), an account's rows and rules (users), messages (messaging).
// Implements: specification 2.6 (invitation-email); decisions "Organization". Only a visitor with the link learns whether the address has an account.
import { DAY_SECONDS, HOUR_SECONDS } from '../../../contract/durations.ts';
import type { By } from '../../../contract/events.ts';
import type { Invitation } from '../../../contract/invitations.ts';
import { Problem } from '../../../contract/problem.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { idNamed } from '../../../crypto/ids.ts';
import { newSecret, sha256 } from '../../../crypto/tokens.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { invitationLinkTo } from '../../../domain/links.ts';
import { userParty } from '../../../domain/party.ts';
import { hasPermission, type Principal, requirePermission } from '../../../domain/principal.ts';
import type { Site } from '../../../domain/site.ts';
import type { FieldFault } from '../../../http/field-errors.ts';
import { faultSentence } from '../../../http/profile-fields.ts';
import { text } from '../../../http/texts.ts';
import type { Send } from '../../configuration/messaging/send.ts';
import { addMember } from '../../configuration/organizations/store.ts';
import type { ChoosePassword } from '../../people/credentials/new-password.ts';
import type { Passkeys } from '../../people/credentials/passkeys.ts';
import type { NewAccount, NewPerson, OwnAccounts } from '../../people/users/own-account.ts';
import * as store from './store.ts';

const USUAL_SECONDS = 7 * DAY_SECONDS;

export interface InvitationsDeps {
  sql: Sql;
  transact: Transact;
  accounts: OwnAccounts;
  choosePassword: ChoosePassword;
  passkeys: Pick<Passkeys, 'creation' | 'enrol'>;
  send: Send;
  sends(realm: string, channel: 'EMAIL'): Promise<boolean>;
  now: () => Date;
  newId: () => string;
}

/** The inviting administrator, and the origin of the link. */
export interface Inviter {
  principal: Principal;
  by: By;
  origin: string;
  settings: RealmSettingsDto;
}
export interface How {
  mail?: boolean | undefined;
  expiresInSeconds?: number | undefined;
}
/** `faults`: the first error of each field, in words for the user. `over`: the invitation was used or revoked, or has expired. */
export type Registered =
  | { do: 'done' }
  | { do: 'over' }
  | { do: 'faults'; faults: readonly FieldFault[] }
  | { do: 'taken' }
  /** The page asks for a passkey; `failed`: the former answer was invalid. */
  | { do: 'passkey'; creation: object; failed: boolean };

/** The fields of the form. */
interface WithPassword {
  password: string | undefined;
  repeated: string | undefined;
}
interface WithPasskey {
  /** undefined: the browser has created none yet. */
  passkey: string | undefined;
  label: string | null;
  site: Site;
  realmName: string;
}
type Accepting = { id: string; username: string };
/** Another request has used the invitation in the meantime. */
class Used extends Error {}
class NoPasskey extends Error {}
const digestOf = (secret: string): Buffer => sha256(`invitation:${secret}`);
const missing = () => new Problem('not-found', 'There is no such invitation');
const statuses = { pending: 'queued', retrying: 'queued', sent: 'sent', dead: 'failed' } as const;
function mailStatusOf({ isMailed, messageStatus }: store.InvitationRow): Invitation['mailStatus'] {
  if (!isMailed) return 'none';
  return messageStatus === null ? 'unknown' : statuses[messageStatus];
}
/** @param seesMessages whether the caller may read a mail server's words, which can name hosts of the realm's network */
const wire = (row: store.InvitationRow, seesMessages: boolean): Invitation => ({
  id: row.id,
  email: row.email,
  organization: row.organization,
  mailStatus: mailStatusOf(row),
  mailError: seesMessages ? row.messageError : null,
  mailedAt: row.messageStatus === 'sent' ? (row.triedAt?.getTime() ?? null) : null,
  createdAt: row.createdAt.getTime(),
  expiresAt: row.expiresAt.getTime(),
});
const seesMessages = (principal: Principal, realm: string): boolean =>
  hasPermission(principal, realm, 'messaging:read');

export function createInvitations(deps: InvitationsDeps) {
  const { sql, transact, accounts, choosePassword, passkeys, send, sends, now, newId } = deps;

  /** Members are data of the organization, so inviting into it needs the permission to change it. */
  function refuseOrganization(principal: Principal, realm: string, organization: string | null): void {
    if (organization === null) return;
    const because = 'Invitations to an organization need the permission organizations:write';
    requirePermission(principal, realm, 'organizations:write', because);
  }

  async function issue(
    tx: Tx,
    { principal, by, origin, settings }: Inviter,
    { id, email, organizationId }: { id: string; email: string; organizationId: string | null },
    { mail = true, expiresInSeconds = USUAL_SECONDS }: How,
  ) {
    const { realmId: realm } = settings;
    if (mail && !(await sends(realm, 'EMAIL')))
      throw new Problem(
        'wrong-state',
        'The realm has no provider for e-mail: add one, or send mail: false and pass the link on yourself',
      );
    const secret = newSecret();
    const at = now();
    const expiresAt = new Date(at.getTime() + expiresInSeconds * 1000);
    const messageId = mail ? newId() : null;
    const issued = { id, email, organizationId, link: digestOf(secret), messageId, at, expiresAt };
    const stored = await store.put(tx.sql, realm, issued);
    const row = await store.find(tx.sql, realm, { id: stored }, { now: at });
    if (!row) throw new Problem('wrong-state', 'The organization is disabled');
    const link = invitationLinkTo(origin, realm, secret);
    const subject = { type: 'object', id: stored, name: null } as const;
    tx.record({ type: 'INVITATION_SENT', realm, by, subject, data: { organization: row.organization, mailed: mail } });
    const { organizationName } = row;
    const values = {
      link,
      organization: organizationName ?? settings.displayName,
      inviter: principal.name,
    };
    const isSent =
      messageId === null ||
      (await send(tx, {
        id: messageId,
        realm,
        by,
        userId: null,
        stranger: true,
        byAdministrator: true,
        to: email,
        templateKey: 'invitation-email',
        names: principal.type === 'user' ? [principal.id] : [],
        values,
        goodForSeconds: expiresInSeconds,
      }));
    if (!isSent)
      throw new Problem(
        'too-many-requests',
        'The limit of messages to this address, or of the realm, is reached for this hour: try again later',
        {
          retryAfterSeconds: HOUR_SECONDS - (Math.floor(at.getTime() / 1000) % HOUR_SECONDS),
        },
      );
    const mailStatus = mail ? 'queued' : 'none';
    return { ...wire(row, false), mailStatus, link: mail ? null : link } as const;
  }

  /** @param isNamed the user chose the username */
  async function personFaults(realm: string, person: NewPerson, { isNamed }: { isNamed: boolean }) {
    const faults = (await accounts.faults(realm, person)).map(
      (one): FieldFault => ({ field: one.path, message: faultSentence(one) }),
    );
    if (!isNamed || faults.some(({ field }) => field === 'username')) return faults;
    const isTaken = await accounts.usernameTaken(realm, person);
    return isTaken ? [{ field: 'username', message: text('register.usernameTaken') }, ...faults] : faults;
  }

  async function create(realm: string, ipAddress: string, account: NewAccount): Promise<Registered> {
    try {
      return { do: (await accounts.create(realm, ipAddress, account)) ? 'done' : 'taken' };
    } catch (error) {
      if (error instanceof Used) return { do: 'over' };
      throw error;
    }
  }

  /** Uses the invitation up. */
  async function take(
    tx: Tx,
    realm: string,
    invitation: store.InvitationRow,
    user: { id: string; username: string },
    ipAddress: string,
  ) {
    const party = userParty(user.id, user.username);
    const by: By = { actor: party, ipAddress };
    const { id, organizationId, organization } = invitation;
    await store.remove(tx.sql, realm, id);
    tx.record({ type: 'INVITATION_ACCEPTED', realm, by, subject: party, data: { invitationId: id, organization } });
    if (organizationId === null) return;
    if (await addMember(tx.sql, realm, { id: organizationId, userId: user.id }, now()))
      tx.record({
        type: 'ORGANIZATION_MEMBER_ADDED',
        realm,
        by,
        subject: party,
        data: { organizationId, organization },
      });
  }

  return {
    inputs: accounts.inputs,

    async list(
      realm: string,
      principal: Principal,
      page: { organization: string | undefined; after: readonly [string, string] | undefined; limit: number },
    ): Promise<Invitation[]> {
      const words = seesMessages(principal, realm);
      return (await store.list(sql, realm, { ...page, now: now() })).map((row) => wire(row, words));
    },

    invite: (
      inviter: Inviter,
      { email, organization = null, ...how }: How & { email: string; organization?: string | null | undefined },
    ) =>
      transact(inviter.settings.realmId, async (tx) => {
        const { realmId: realm } = inviter.settings;
        refuseOrganization(inviter.principal, realm, organization);
        const organizationId =
          organization === null ? null : await store.organizationNamed(tx.sql, realm, organization);
        if (organizationId === undefined)
          throw new Problem('invalid-request', undefined, {
            errors: [{ path: 'organization', message: `there is no organization ${organization}` }],
          });
        return issue(tx, inviter, { id: newId(), email, organizationId }, how);
      }),

    resend: (inviter: Inviter, id: string, how: How) =>
      transact(inviter.settings.realmId, async (tx) => {
        const row = await store.find(tx.sql, inviter.settings.realmId, { id }, { now: now(), lock: true });
        if (!row) throw missing();
        refuseOrganization(inviter.principal, inviter.settings.realmId, row.organization);
        return issue(tx, inviter, row, how);
      }),

    revoke: ({ principal, by }: Pick<Inviter, 'principal' | 'by'>, realm: string, id: string): Promise<void> =>
      transact(realm, async (tx) => {
        const row = await store.find(tx.sql, realm, { id }, { now: now(), lock: true });
        if (!row) throw missing();
        refuseOrganization(principal, realm, row.organization);
        await store.remove(tx.sql, realm, id);
        const subject = { type: 'object', id, name: null } as const;
        tx.record({ type: 'INVITATION_REVOKED', realm, by, subject, data: { organization: row.organization } });
      }),

    /** The invitation of a link; undefined: unknown or no longer valid. Looking doesn't use it up. */
    look: (realm: string, secret: string) => store.find(sql, realm, { link: digestOf(secret) }, { now: now() }),

    /** Whether the invitation was sent to this user's address. */
    isFor: async (realm: string, { email }: store.InvitationRow, userId: string): Promise<boolean> =>
      (await store.addressOf(sql, realm, userId))?.toLowerCase() === email.toLowerCase(),

    /**
     * Accepts the invitation for a signed-in user. @returns false: the address is not the user's, or the invitation was
     * used in the meantime
     */
    accept: (
      realm: string,
      secret: string,
      user: { id: string; username: string },
      ipAddress: string,
    ): Promise<boolean> =>
      transact(
        realm,
        async (tx) => {
          const row = await store.find(tx.sql, realm, { link: digestOf(secret) }, { now: now(), lock: true });
          const address = await store.addressOf(tx.sql, realm, user.id);
          if (!row || address?.toLowerCase() !== row.email.toLowerCase()) return false;
          await take(tx, realm, row, user, ipAddress);
          return true;
        },
        { bookkeeping: true },
      ),

    /**
     * Accepts the invitation with a new account. The account gets the invited address; an address in the form is ignored.
     */
    async register(
      realm: string,
      secret: string,
      {
        person,
        terms,
        unaccepted,
        proof,
      }: {
        /** `username` undefined: the address is the username. */
        person: Omit<NewPerson, 'email' | 'username'> & { username: string | undefined };
        proof: WithPassword | WithPasskey;
        terms: { url: string | null; version: string | null } | undefined;
        /** Why the form doesn't accept the terms, in words for the user. */
        unaccepted: string | undefined;
      },
      ipAddress: string,
    ): Promise<Registered> {
      const link = digestOf(secret);
      const found = await store.find(sql, realm, { link }, { now: now() });
      if (!found) return { do: 'over' };
      const whole = { ...person, username: person.username ?? found.email, email: found.email };
      const chosen = 'password' in proof ? await choosePassword(realm, whole, proof) : undefined;
      const faults = [
        ...(await personFaults(realm, whole, { isNamed: person.username !== undefined })),
        ...(chosen?.ok === false ? chosen.faults : []),
        ...(unaccepted === undefined ? [] : [{ field: 'terms', message: unaccepted }]),
      ];
      if (faults.length > 0) return { do: 'faults', faults };
      const account = { person: whole, emailVerified: found.isMailed, terms };
      const taking = async (tx: Tx, _: By, user: Accepting) => {
        const row = await store.find(tx.sql, realm, { link }, { now: now(), lock: true });
        if (!row) throw new Used();
        await take(tx, realm, row, user, ipAddress);
      };
      if (chosen?.ok) return create(realm, ipAddress, { ...account, phc: chosen.phc, beside: taking });
      if ('password' in proof) throw new Error('a password without fault is chosen');
      const { passkey, label, site, realmName } = proof;
      // The passkey is created for the future account, so the id is derived from the link.
      const id = idNamed(`account by invitation ${secret}`);
      const challenge = sha256(`challenge of invitation ${secret}`).toString('base64url');
      const beside = async (tx: Tx, by: By, user: Accepting) => {
        await taking(tx, by, user);
        const sent = { sent: passkey ?? '', site, challenge, label, newAccount: true } as const;
        if (!(await passkeys.enrol(tx, by, realm, user, sent)).ok) throw new NoPasskey();
      };
      const ask = async (failed: boolean): Promise<Registered> => {
        const asked = { site, realmName, challenge, userVerification: 'required' } as const;
        return {
          do: 'passkey',
          creation: await passkeys.creation(realm, { id, username: whole.username }, asked),
          failed,
        };
      };
      if (passkey === undefined) return ask(false);
      const byPasskey = { ...account, id, phc: undefined, registered: { passkey: true }, beside };
      return create(realm, ipAddress, byPasskey).catch((error: unknown) => {
        if (error instanceof NoPasskey) return ask(true);
        throw error;
      });
    },
  };
}
export type Invitations = ReturnType<typeof createInvitations>;
