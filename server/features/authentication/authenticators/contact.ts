// How users prove that they own an e-mail address or a phone number: whether the value may be proven, sending the code,
// checking it, and storing the confirmation. Pages and the account API ask in different ways (sign-in/verify-contact.ts,
// account/own-contact.ts). The end of this file has the differences between addresses and numbers.
import { asciiEmail } from '../../../contract/email.ts';
import type { By } from '../../../contract/events.ts';
import type { Words } from '../../../contract/phrases.ts';
import type { Tx } from '../../../db/transact.ts';
import type { Notify } from '../../configuration/messaging/notify.ts';
import type { Credentials, KnownUser } from '../../people/credentials/service.ts';
import type { OwnEmails } from '../../people/users/own-email.ts';
import type { OwnPhones } from '../../people/users/own-phone.ts';
import type { Form, StepMemory } from './authenticator.ts';
import type { MailedCodes } from './mailed-code.ts';

/** The user's present address or number. */
export interface Present {
  value: string | null;
  verified: boolean;
  /** Whether the realm lets users change it. */
  mayChange: boolean;
}
/** Why a value can't be proven. `fault` follows the field's name. */
export type Refusal = { why: 'kept-by-realm' } | { why: 'confirmed-already' } | { why: 'fault'; fault: Words };
export type Confirmed =
  | { do: 'confirmed' }
  | { do: 'wrong' }
  /** Another user got the address or number in the meantime. */
  | { do: 'taken' }
  | { do: 'again'; message: string; keep?: StepMemory };

interface Mailing {
  realm: string;
  origin: string;
  by: By;
  userId: string;
  /** The purpose of the code. It is invalid for any other. */
  context: string;
}
interface Kind {
  channel: 'EMAIL' | 'SMS';
  of(realm: string, userId: string): Promise<Present>;
  /** The stored form of a value that a user entered. */
  plain(written: string): string;
  isSame(one: string, other: string): boolean;
  fault(realm: string, userId: string, value: string): Promise<Words | undefined>;
  /** Reads the data for sending, before the transaction begins. */
  prepare(realm: string, userId: string, value: string): Promise<(tx: Tx, mailing: Mailing) => Promise<StepMemory>>;
  /** The value that a code was sent to. */
  sentTo(kept: StepMemory): string;
  /** Stores the confirmation and notifies the user. @throws an error for which `isTaken` is true */
  confirm(tx: Tx, by: By, realm: string, now: { userId: string; value: string; before: Present }): Promise<void>;
  isTaken(error: unknown): boolean;
}
type Write = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;

function contactOf(
  { prepare, confirm, isTaken, isSame, ...kind }: Kind,
  { codes, credentials }: { codes: MailedCodes; credentials: Pick<Credentials, 'guess'> },
) {
  const isPresent = ({ value }: Present, other: string) => value !== null && isSame(value, other);
  const isConfirmed = (present: Present, value: string) => present.verified && isPresent(present, value);
  return {
    channel: kind.channel,
    of: kind.of,
    plain: kind.plain,
    sentTo: kind.sentTo,
    mayResend: codes.mayResend,
    isConfirmed,

    /** Why the user can't have a code sent to `value`; undefined: they can. */
    async refusal(realm: string, userId: string, present: Present, value: string): Promise<Refusal | undefined> {
      if (!isPresent(present, value) && !present.mayChange) return { why: 'kept-by-realm' };
      if (isConfirmed(present, value)) return { why: 'confirmed-already' };
      const fault = await kind.fault(realm, userId, value);
      return fault === undefined ? undefined : { why: 'fault', fault };
    },

    /** @returns the values to keep for `confirm` */
    async send(mailing: Mailing, value: string, write: Write): Promise<StepMemory> {
      const sendIn = await prepare(mailing.realm, mailing.userId, value);
      return write((tx) => sendIn(tx, mailing));
    },

    /**
     * Checks the code and confirms the value that it was sent to.
     * @param by the party whose guesses are counted; `byThem`: the user, as the author of the change
     * @param beside further writes in the same transaction, before the confirmation
     */
    async confirm(
      asked: { realm: string; user: KnownUser; by: By; byThem: By; context: string; kept: StepMemory; before: Present },
      form: Form,
      write: Write,
      beside: (tx: Tx) => Promise<void>,
    ): Promise<Confirmed> {
      const { realm, user, by, byThem, context, kept, before } = asked;
      const proof = await codes.check(realm, kept, form, context);
      const isProven = await codes.countGuess(credentials, { realm, user, by }, proof);
      if (proof.do === 'again') return proof;
      if (!isProven) return { do: 'wrong' };
      try {
        await write(async (tx) => {
          await beside(tx);
          await confirm(tx, byThem, realm, { userId: user.id, value: kind.sentTo(kept), before });
        });
        return { do: 'confirmed' };
      } catch (error) {
        if (isTaken(error)) return { do: 'taken' };
        throw error;
      }
    },
  };
}
export type Contact = ReturnType<typeof contactOf>;

export interface ContactsDeps {
  emails: OwnEmails;
  phones: OwnPhones;
  codes: MailedCodes;
  credentials: Pick<Credentials, 'guess'>;
  notify: Notify;
}
export interface Contacts {
  email: Contact;
  phone: Contact;
}

export function createContacts({ emails, phones, codes, credentials, notify }: ContactsDeps): Contacts {
  const email: Kind = {
    channel: 'EMAIL',
    async of(realm, userId) {
      const { email: value, ...rest } = await emails.of(realm, userId);
      return { value, ...rest };
    },
    plain: (written) => asciiEmail(written.trim()),
    isSame: (one, other) => one.toLowerCase() === other.toLowerCase(),
    fault: emails.fault,
    async prepare(realm, userId, value) {
      const owner = await emails.ownerOf(realm, value, userId);
      return (tx, mailing) => codes.send(tx, { ...mailing, email: value, owner });
    },
    sentTo: (kept) => kept.email ?? '',
    async confirm(tx, by, realm, { userId, value, before: { verified } }) {
      const to = await emails.confirm(tx, by, realm, { userId, email: value });
      if (to !== null && verified) await notify(tx, { realm, by, userId, what: 'email-changed', to });
    },
    isTaken: emails.isTaken,
  };
  const phone: Kind = {
    channel: 'SMS',
    async of(realm, userId) {
      const { number: value, ...rest } = await phones.of(realm, userId);
      return { value, ...rest };
    },
    plain: phones.plain,
    isSame: (one, other) => one === other,
    fault: phones.fault,
    prepare: async (_realm, _userId, number) => (tx, mailing) => codes.text(tx, { ...mailing, number }),
    sentTo: (kept) => kept.phone ?? '',
    async confirm(tx, by, realm, { userId, value }) {
      await phones.confirm(tx, by, realm, { userId, number: value });
      await notify(tx, { realm, by, userId, what: 'credential-added' });
    },
    isTaken: phones.isTaken,
  };
  return { email: contactOf(email, { codes, credentials }), phone: contactOf(phone, { codes, credentials }) };
}
