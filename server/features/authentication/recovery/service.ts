// Owns: forgotten passwords: the link by mail, and the new password that it sets.
// Does not own: the rules and consequences of a new password (features/people/credentials), other lost factors.
// Implements: specification 2.6 (reset-password-email); decisions "Single sign-on and freshness". No answer reveals whether the user exists: an unknown name takes the same steps.
import type { By } from '../../../contract/events.ts';
import { Problem } from '../../../contract/problem.ts';
import { newSecret, sha256 } from '../../../crypto/tokens.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { resetLinkTo } from '../../../domain/links.ts';
import { userParty } from '../../../domain/party.ts';
import type { Send } from '../../configuration/messaging/send.ts';
import type { ChoosePassword, PasswordFaults, PasswordForm } from '../../people/credentials/new-password.ts';
import type { Credentials } from '../../people/credentials/service.ts';
import * as store from './store.ts';

export const LINK_MINUTES = 20;

export interface RecoveryDeps {
  sql: Sql;
  transact: Transact;
  credentials: Pick<Credentials, 'named' | 'setPassword'>;
  choosePassword: ChoosePassword;
  /** Whether one of these credentials can begin a sign-in by itself. */
  identifies(types: readonly string[]): boolean;
  send: Send;
  now: () => Date;
}

export interface Wanted {
  realm: string;
  name: string;
  /** The origin of the pages, as the browser sees it. */
  origin: string;
  by: By;
  /** The request that the user was signing in for. */
  asked: string | undefined;
}

export interface Offer extends Pick<Wanted, 'realm' | 'origin' | 'by'> {
  userId: string;
  username: string;
}

export type Reset =
  | { do: 'done'; asked: string | null }
  | { do: 'again'; faults: PasswordFaults }
  /** The link was used, has expired, or the user's address or password has changed since. */
  | { do: 'over' };

const digestOf = (secret: string): Buffer => sha256(`password-reset:${secret}`);

export function createRecovery(deps: RecoveryDeps) {
  const { sql, transact, credentials, choosePassword, identifies, send, now } = deps;
  return {
    /** Sends a link to the user with this name, if there is one. */
    async ask({ realm, name, origin, by, asked }: Wanted): Promise<void> {
      const person = await credentials.named(realm, name);
      const types = person?.standing.types ?? [];
      // A user who signs in without a password must not get one through the mailbox alone.
      const has = types.includes('password') || !identifies(types);
      const email = has ? (person?.standing.reach.EMAIL ?? null) : null;
      const userId = email === null || !person ? null : person.user.id;
      const secret = newSecret();
      const expiresAt = new Date(now().getTime() + LINK_MINUTES * 60_000);
      const values = { link: resetLinkTo(origin, realm, secret) };
      await transact(realm, async (tx) => {
        await store.insert(tx.sql, realm, { id: digestOf(secret), userId, email, asked, expiresAt });
        await send(tx, {
          realm,
          by,
          userId,
          to: email,
          templateKey: 'reset-password-email',
          values,
          goodForSeconds: LINK_MINUTES * 60,
        });
      });
    },

    /**
     * Sends the link at an administrator's request, who may learn why there is none.
     * @throws Problem `wrong-state`
     */
    async offer({ realm, username, origin, by, userId }: Offer): Promise<{ expiresAt: Date }> {
      const person = await credentials.named(realm, username);
      if (person?.user.id !== userId) throw new Problem('wrong-state', 'The user is disabled');
      const { types, reach } = person.standing;
      if (!types.includes('password') && identifies(types))
        throw new Problem('wrong-state', 'The user signs in without a password');
      if (await store.isKeptElsewhere(sql, realm, userId))
        throw new Problem('wrong-state', 'A directory keeps the password of the user');
      const email = reach.EMAIL ?? null;
      if (email === null) throw new Problem('wrong-state', 'The user has no verified e-mail address');
      const secret = newSecret();
      const expiresAt = new Date(now().getTime() + LINK_MINUTES * 60_000);
      await transact(realm, async (tx) => {
        await store.insert(tx.sql, realm, { id: digestOf(secret), userId, email, asked: undefined, expiresAt });
        const isSent = await send(tx, {
          realm,
          by,
          userId,
          byAdministrator: true,
          to: email,
          templateKey: 'reset-password-email',
          values: { link: resetLinkTo(origin, realm, secret) },
          goodForSeconds: LINK_MINUTES * 60,
        });
        if (!isSent)
          throw new Problem('wrong-state', 'No mail goes out: the realm has no provider for it, or a limit is reached');
      });
      return { expiresAt };
    },

    /**
     * For a user who has opened another link in the same mailbox.
     * @returns the token for `/login/reset`; undefined: the user has no password here
     */
    async lead(tx: Tx, realm: string, userId: string): Promise<string | undefined> {
      const email = await store.addressFor(tx.sql, realm, userId);
      if (email === undefined) return undefined;
      const secret = newSecret();
      const expiresAt = new Date(now().getTime() + LINK_MINUTES * 60_000);
      await store.insert(tx.sql, realm, { id: digestOf(secret), userId, email, asked: undefined, expiresAt });
      return secret;
    },

    /** The user whose password the link sets; undefined: unknown or no longer valid. Looking doesn't use it up. */
    look: (realm: string, secret: string): Promise<store.Found | undefined> =>
      store.find(sql, realm, digestOf(secret), { now: now() }),

    /** Sets the password that the user chose at the link, once, and ends the user's sessions and tokens. */
    async set(realm: string, secret: string, form: PasswordForm, ipAddress: string): Promise<Reset> {
      const found = await store.find(sql, realm, digestOf(secret), { now: now() });
      if (!found) return { do: 'over' };
      const chosen = await choosePassword(realm, found, form);
      if (!chosen.ok) return { do: 'again', faults: chosen.faults };
      return transact(realm, async (tx): Promise<Reset> => {
        const user = await store.find(tx.sql, realm, digestOf(secret), { now: now(), lock: true });
        if (!user) return { do: 'over' };
        const by: By = { actor: userParty(user.id, user.username), ipAddress };
        await store.removeOf(tx.sql, realm, user.id);
        await credentials.setPassword(tx, by, realm, user, { phc: chosen.phc, temporary: false });
        return { do: 'done', asked: user.asked };
      });
    },
  };
}
export type Recovery = ReturnType<typeof createRecovery>;
