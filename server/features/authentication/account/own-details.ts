// What people change of who they are by the account API: names and attributes, their address, their password. The pages do the same
// as steps of a sign-in (features/authentication/sign-in).
import { z } from 'zod';
import type { OwnProfile } from '../../../contract/account.ts';
import type { By } from '../../../contract/events.ts';
import { type FieldError, faultAt, Problem } from '../../../contract/problem.ts';
import type { AccountHolder } from '../../../domain/principal.ts';
import { said } from '../../../http/texts.ts';
import type { Notify } from '../../configuration/messaging/notify.ts';
import type { ChoosePassword } from '../../people/credentials/new-password.ts';
import type { Credentials } from '../../people/credentials/service.ts';
import type { OwnEmails } from '../../people/users/own-email.ts';
import type { OwnProfiles } from '../../people/users/own-profile.ts';
import type { MailedCodes } from '../authenticators/mailed-code.ts';
import type { AsThemselves } from './as-themselves.ts';
import type { Starts } from './starts.ts';
import { type Tickets, used } from './tickets.ts';

export interface OwnDetailsDeps {
  profiles: OwnProfiles;
  emails: OwnEmails;
  codes: MailedCodes;
  credentials: Pick<Credentials, 'guess' | 'setPassword'>;
  choosePassword: ChoosePassword;
  notify: Notify;
  sends(realm: string, channel: 'EMAIL'): Promise<boolean>;
  starts: Starts;
  asThemselves: AsThemselves;
  tickets: Tickets;
}
/** Who asks, and from where. */
export interface AccountWrite {
  realm: string;
  holder: AccountHolder;
  by: By;
  /** What the realm's pages are shown at. */
  origin: string;
}
export type OwnWrite = Omit<AccountWrite, 'origin'>;
interface ProfileInput {
  firstName?: string | null | undefined;
  lastName?: string | null | undefined;
  attributes?: Record<string, string[]> | undefined;
}

const EmailTicket = z.record(z.string(), z.string());

export function createOwnDetails(deps: OwnDetailsDeps) {
  const { profiles, emails, codes, credentials, choosePassword, notify, sends, starts, asThemselves, tickets } = deps;

  async function profile(realm: string, userId: string): Promise<OwnProfile> {
    const [person, { shown, inputs }, { mayChange }] = await Promise.all([
      profiles.read(realm, userId),
      profiles.fields(realm),
      emails.of(realm, userId),
    ]);
    if (!person) throw new Problem('not-found');
    const seen = Object.entries(person.attributes).filter(([name]) => shown.some((one) => one.name === name));
    return {
      ...person,
      attributes: Object.fromEntries(seen.map(([name, values]) => [name, [...values]])),
      editable: [...(mayChange ? ['email'] : []), ...inputs.map(({ path }) => path)],
    };
  }

  /** By the inputs' fields. @throws where something isn't theirs to change */
  async function valuesOf(realm: string, { firstName, lastName, attributes = {} }: ProfileInput) {
    const given = new Map<string, readonly string[]>(
      Object.entries(attributes).map(([name, values]) => [`attributes.${name}`, values]),
    );
    for (const [path, value] of Object.entries({ firstName, lastName }))
      if (value !== undefined) given.set(path, value === null || value === '' ? [] : [value]);
    const fields = new Map((await profiles.inputs(realm)).map(({ path, field }) => [path, field]));
    const errors = [...given.keys()].flatMap((path): FieldError[] =>
      fields.has(path) ? [] : [{ path, message: 'isn’t yours to change' }],
    );
    if (errors.length > 0) throw new Problem('invalid-request', undefined, { errors });
    return Object.fromEntries([...given].map(([path, values]) => [fields.get(path) ?? path, values]));
  }

  const emailContext = ({ realm, holder }: AccountWrite, email: string) =>
    `account-email:${realm}:${holder.userId}:${email}`;

  return {
    profile,

    async changeProfile({ realm, holder, by }: OwnWrite, input: ProfileInput): Promise<OwnProfile> {
      const { userId } = holder;
      const change = {
        by,
        userId,
        beside: asThemselves.check(realm, holder, async (tx, fields: readonly string[]) => {
          if (fields.length > 0) await notify(tx, { realm, by, userId, what: 'profile-changed' });
        }),
      };
      const changed = await asThemselves.told(profiles.change(realm, change, await valuesOf(realm, input)));
      if (!changed.ok) throw faultAt(changed.path, said(changed.message));
      return profile(realm, userId);
    },

    async startEmail(write: AccountWrite, email: string) {
      const { realm, holder, by, origin } = write;
      const { userId } = holder;
      const { email: present, verified, mayChange } = await emails.of(realm, userId);
      const isNew = present?.toLowerCase() !== email.toLowerCase();
      if (isNew && !mayChange) throw new Problem('forbidden', 'The realm keeps addresses for its administrators');
      if (!isNew && verified) throw faultAt('email', 'is yours already');
      const fault = await emails.fault(realm, userId, email);
      if (fault !== undefined) throw faultAt('email', said(fault));
      if (!(await sends(realm, 'EMAIL'))) throw new Problem('wrong-state', 'The realm sends no e-mail');
      starts(realm, userId, 'EMAIL');
      const owner = await emails.ownerOf(realm, email, userId);
      const context = emailContext(write, email);
      const kept = await asThemselves.write(realm, holder, (tx) =>
        codes.send(tx, { realm, origin, by, userId, email, context, owner }),
      );
      return tickets.issue(realm, holder, 'email', kept);
    },

    async confirmEmail(write: AccountWrite, { ticket, code }: { ticket: string; code: string }): Promise<void> {
      const { realm, holder, by } = write;
      const { userId, username } = holder;
      const kept = EmailTicket.parse(tickets.open(realm, holder, 'email', ticket));
      const email = kept.email ?? '';
      const { email: present, verified } = await emails.of(realm, userId);
      if (verified && present?.toLowerCase() === email.toLowerCase()) throw used();
      const proof = await codes.check(realm, kept, { code }, emailContext(write, email));
      const user = { id: userId, username };
      const isProven = await codes.countGuess(credentials, { realm, user, by }, proof);
      if (proof.do === 'again') throw faultAt('code', proof.message);
      if (!isProven) throw faultAt('code', 'is wrong');
      await asThemselves
        .write(realm, holder, async (tx) => {
          await tickets.use(tx.sql, realm, ticket);
          const before = await emails.confirm(tx, by, realm, { userId, email });
          if (before !== null && verified && present !== null)
            await notify(tx, { realm, by, userId, what: 'email-changed', to: before });
        })
        .catch((error: unknown) => {
          throw emails.isTaken(error) ? faultAt('code', 'is wrong') : error;
        });
    },

    async changePassword({ realm, holder, by }: AccountWrite, password: string): Promise<void> {
      const { userId: id, username } = holder;
      const chosen = await choosePassword(realm, { id, username }, { password, repeated: password });
      if (!chosen.ok) throw faultAt('password', chosen.message);
      const keep = asThemselves.keep(holder);
      await asThemselves.write(realm, holder, (tx) =>
        credentials.setPassword(tx, by, realm, { id, username }, { phc: chosen.phc, temporary: false, keep }),
      );
    },
  };
}
export type OwnDetails = ReturnType<typeof createOwnDetails>;
