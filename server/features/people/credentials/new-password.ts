// Checks a new password that a user enters twice on a page, and hashes it before any transaction begins.
import type { PasswordOwner } from '../../../contract/guessable-passwords.ts';
import { phrase } from '../../../contract/phrases.ts';
import type { FieldFault } from '../../../http/field-errors.ts';
import { PASSWORD_MAX } from '../../../http/password-fields.ts';
import { text, translated } from '../../../http/texts.ts';
import type { Credentials, KnownUser } from './service.ts';

export type ChosenPassword =
  | { ok: true; phc: string; replaces: string | undefined }
  /** The first fault of each field, `password` before `repeated`. */
  | { ok: false; faults: PasswordFaults };
export type PasswordFaults = readonly [FieldFault, ...FieldFault[]];

export interface PasswordForm {
  password?: string | undefined;
  repeated?: string | undefined;
}

export interface ChoosePasswordDeps {
  credentials: Pick<Credentials, 'hashPassword' | 'passwordContext' | 'newPasswordFaults'>;
}

export function createChoosePassword({ credentials }: ChoosePasswordDeps) {
  /** @param user without an id: an account that doesn't exist yet */
  return async (
    realm: string,
    user: Pick<KnownUser, 'username'> & Partial<PasswordOwner> & { id?: string },
    { password = '', repeated }: PasswordForm,
  ): Promise<ChosenPassword> => {
    const different = { field: 'repeated', message: text('newPassword.different') };
    const refuse = (message: string): ChosenPassword => {
      const fault = { field: 'password', message };
      return { ok: false, faults: password === repeated ? [fault] : [fault, different] };
    };
    if (password.length > PASSWORD_MAX) return refuse(text('newPassword.tooLong', { most: PASSWORD_MAX }));
    const had = user.id === undefined ? undefined : await credentials.passwordContext(realm, user.id, password);
    const email = user.email ?? had?.email ?? null;
    const { id, username, firstName = had?.firstName, lastName = had?.lastName } = user;
    const owner = { username, email, firstName, lastName };
    const faults = await credentials.newPasswordFaults(realm, password, { ...(id && { id }), ...owner });
    if (had?.same && faults.length === 0) faults.push(phrase('notOld'));
    if (faults.length > 0) {
      const key = had?.credentialId === undefined ? 'newPassword.firstFaults' : 'newPassword.faults';
      return refuse(text(key, { faults: faults.map(translated).join(text('newPassword.and')) }));
    }
    if (password !== repeated) return { ok: false, faults: [different] };
    return { ok: true, phc: await credentials.hashPassword(password), replaces: had?.credentialId };
  };
}
export type ChoosePassword = ReturnType<typeof createChoosePassword>;
