// Owns: a forgotten password: a link by mail, and the new password that it leads to.
// Does not own: what a new password must be and what follows from it (features/people/credentials), other lost factors.
// Implements: specification 2.6 (reset-password-email); decisions "Single sign-on and freshness". Whether there is such a person is
// never said: the same is done for nobody.
import type { By } from '../../../contract/events.ts';
import { newSecret, sha256 } from '../../../crypto/tokens.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { resetLinkTo } from '../../../domain/links.ts';
import { userParty } from '../../../domain/party.ts';
import type { Send } from '../../configuration/messaging/send.ts';
import type { ChoosePassword, PasswordField, PasswordForm } from '../../people/credentials/new-password.ts';
import type { Credentials } from '../../people/credentials/service.ts';
import * as store from './store.ts';

export const LINK_MINUTES = 20;

export interface RecoveryDeps {
  sql: Sql;
  transact: Transact;
  credentials: Pick<Credentials, 'named' | 'setPassword'>;
  choosePassword: ChoosePassword;
  /** Whether one of these credentials says who somebody is. */
  identifies(types: readonly string[]): boolean;
  send: Send;
  now: () => Date;
}

export interface Wanted {
  realm: string;
  name: string;
  /** Of the pages, as the browser sees them. */
  origin: string;
  by: By;
  /** What they were on their way to. */
  asked: string | undefined;
}

export type Reset =
  | { do: 'done'; asked: string | null }
  | { do: 'again'; field: PasswordField; message: string }
  /** Used, too old, or what it rested on has changed. */
  | { do: 'over' };

const digestOf = (secret: string): Buffer => sha256(`password-reset:${secret}`);

export function createRecovery(deps: RecoveryDeps) {
  const { sql, transact, credentials, choosePassword, identifies, send, now } = deps;
  return {
    /** Sends a link to whoever has the name, if anybody. */
    async ask({ realm, name, origin, by, asked }: Wanted): Promise<void> {
      const person = await credentials.named(realm, name);
      const types = person?.standing.types ?? [];
      // Whoever does without a password isn't given one by whoever reads their mail.
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

    /** For whoever has shown by another link that the person's mail is theirs. @returns what `/login/reset` takes; undefined: they have no password */
    async lead(tx: Tx, realm: string, userId: string): Promise<string | undefined> {
      const email = await store.addressFor(tx.sql, realm, userId);
      if (email === undefined) return undefined;
      const secret = newSecret();
      const expiresAt = new Date(now().getTime() + LINK_MINUTES * 60_000);
      await store.insert(tx.sql, realm, { id: digestOf(secret), userId, email, asked: undefined, expiresAt });
      return secret;
    },

    /** Whose password the link sets; undefined: nobody's (any more). Looking uses nothing up. */
    look: (realm: string, secret: string): Promise<store.Found | undefined> =>
      store.find(sql, realm, digestOf(secret), { now: now() }),

    /** Sets the password that somebody chose at the link, once, and ends what they were signed in to. */
    async set(realm: string, secret: string, form: PasswordForm, ipAddress: string): Promise<Reset> {
      const found = await store.find(sql, realm, digestOf(secret), { now: now() });
      if (!found) return { do: 'over' };
      const chosen = await choosePassword(realm, found, form);
      if (!chosen.ok) return { do: 'again', field: chosen.field, message: chosen.message };
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
