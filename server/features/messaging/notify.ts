// Tells people by mail that something of their account was changed, in the transaction of the change: whoever didn't do it
// themselves hears of it. Who has no confirmed address hears nothing.
import type { By } from '../../contract/events.ts';
import type { Tx } from '../../db/transact.ts';
import type { Send } from './send.ts';
import * as store from './store.ts';

const words = {
  'password-changed': 'your password was changed',
  'email-changed': 'your e-mail address was changed',
  'profile-changed': 'your profile was changed',
  'credential-added': 'a new way to sign in was set up',
  'credential-removed': 'a way to sign in was removed',
  'identity-linked': 'an account at another identity provider was connected, by which you can sign in from now on',
  'identity-unlinked': 'an account at another identity provider was disconnected',
  'sessions-ended': 'your other sessions were ended',
} as const;
export type NoticeOf = keyof typeof words;

export interface Notice {
  realm: string;
  by: By;
  userId: string;
  what: NoticeOf;
  /** Where it goes, if not to where the person is now: an address that is no longer theirs. */
  to?: string;
}

export const createNotify =
  ({ send, now }: { send: Send; now: () => Date }) =>
  async (tx: Tx, { realm, by, userId, what, ...given }: Notice): Promise<void> => {
    const to = given.to ?? (await store.verifiedEmail(tx.sql, realm, userId));
    if (to === undefined) return;
    const time = `${now().toISOString().slice(0, 16).replace('T', ' ')} UTC`;
    await send(tx, {
      realm,
      by,
      userId,
      to,
      templateKey: 'account-changed-email',
      values: { change: words[what], time },
      goodForSeconds: 24 * 3600,
    });
  };
export type Notify = ReturnType<typeof createNotify>;
