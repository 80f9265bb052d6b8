// Users change their own data through the account API: names and attributes, address, password. The pages do the same in
// steps of a sign-in (features/authentication/sign-in).
import type { OwnProfile } from '../../../contract/account.ts';
import type { By } from '../../../contract/events.ts';
import { type FieldError, faultAt, Problem } from '../../../contract/problem.ts';
import type { AccountHolder } from '../../../domain/principal.ts';
import type { Notify } from '../../configuration/messaging/notify.ts';
import type { ChoosePassword } from '../../people/credentials/new-password.ts';
import type { Credentials } from '../../people/credentials/service.ts';
import type { OwnEmails } from '../../people/users/own-email.ts';
import type { OwnProfiles } from '../../people/users/own-profile.ts';
import type { Contacts } from '../authenticators/contact.ts';
import type { AsThemselves } from './as-themselves.ts';
import { createOwnContact } from './own-contact.ts';
import type { Starts } from './starts.ts';
import type { Tickets } from './tickets.ts';

export interface OwnDetailsDeps {
  profiles: OwnProfiles;
  emails: Pick<OwnEmails, 'of'>;
  contacts: Pick<Contacts, 'email'>;
  credentials: Pick<Credentials, 'setPassword'>;
  choosePassword: ChoosePassword;
  notify: Notify;
  sends(realm: string, channel: 'EMAIL' | 'SMS'): Promise<boolean>;
  starts: Starts;
  asThemselves: AsThemselves;
  tickets: Tickets;
}
/** The account's user, and where the request comes from. */
export interface AccountWrite {
  realm: string;
  holder: AccountHolder;
  by: By;
  /** The origin at which the realm's pages are shown. */
  origin: string;
}
export type OwnWrite = Omit<AccountWrite, 'origin'>;
interface ProfileInput {
  firstName?: string | null | undefined;
  lastName?: string | null | undefined;
  attributes?: Record<string, string[]> | undefined;
}

export function createOwnDetails(deps: OwnDetailsDeps) {
  const { profiles, emails, contacts, credentials, choosePassword, notify, sends, starts, asThemselves, tickets } =
    deps;

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

  /** The values by field of the inputs. @throws Problem `invalid-request`: users may not change a field */
  async function valuesOf(realm: string, { firstName, lastName, attributes = {} }: ProfileInput) {
    const given = new Map<string, readonly string[]>(
      Object.entries(attributes).map(([name, values]) => [`attributes.${name}`, values]),
    );
    for (const [path, value] of Object.entries({ firstName, lastName }))
      if (value !== undefined) given.set(path, value === null || value === '' ? [] : [value]);
    const fields = new Map((await profiles.inputs(realm)).map(({ path, field }) => [path, field]));
    const errors = [...given.keys()].flatMap((path): FieldError[] =>
      fields.has(path) ? [] : [{ path, message: 'can’t be changed by users of this realm' }],
    );
    if (errors.length > 0) throw new Problem('invalid-request', undefined, { errors });
    return Object.fromEntries([...given].map(([path, values]) => [fields.get(path) ?? path, values]));
  }

  const email = createOwnContact({
    contact: contacts.email,
    purpose: 'email',
    field: 'email',
    words: {
      keptByRealm: 'Only administrators change e-mail addresses in this realm',
      sendsNothing: 'The realm sends no e-mail',
    },
    // The answer must not tell that another user has the address.
    taken: () => faultAt('code', 'is wrong'),
    sends,
    starts,
    asThemselves,
    tickets,
  });

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
      if (!changed.ok) throw faultAt(changed.path, changed.fault);
      return profile(realm, userId);
    },

    startEmail: email.start,
    confirmEmail: email.confirm,

    async changePassword({ realm, holder, by }: AccountWrite, password: string): Promise<void> {
      const { userId: id, username } = holder;
      const chosen = await choosePassword(realm, { id, username }, { password, repeated: password });
      if (!chosen.ok) throw faultAt('password', chosen.faults[0].message);
      const keep = asThemselves.keep(holder);
      await asThemselves.write(realm, holder, (tx) =>
        credentials.setPassword(tx, by, realm, { id, username }, { phc: chosen.phc, temporary: false, keep }),
      );
    },
  };
}
export type OwnDetails = ReturnType<typeof createOwnDetails>;
