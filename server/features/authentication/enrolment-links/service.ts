// Owns: links from administrators by which users replace a lost credential: created, opened, used once.
// Does not own: the credentials (features/authentication/authenticators), forgotten passwords (features/authentication/recovery), devices (features/people/devices).
// Implements: specification 4.10. A link sets up a credential; it starts no session.

import type { LinkAction } from '../../../contract/enrolment-links.ts';
import type { By } from '../../../contract/events.ts';
import { Problem } from '../../../contract/problem.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import type { Seal } from '../../../crypto/seal.ts';
import { newSecret, sha256 } from '../../../crypto/tokens.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import type { AdminRights } from '../../../domain/admin-rights.ts';
import { enrolmentLinkTo } from '../../../domain/links.ts';
import { userParty } from '../../../domain/party.ts';
import type { Principal } from '../../../domain/principal.ts';
import type { Site } from '../../../domain/site.ts';
import type { Credentials } from '../../people/credentials/service.ts';
import type { MustCover } from '../../people/users/service.ts';
import type { Complaint, Form, Method, Step, StepPage } from '../authenticators/authenticator.ts';
import { createOtp, type OtpDeps } from '../authenticators/otp.ts';
import { createWebauthn, type WebauthnDeps } from '../authenticators/webauthn.ts';
import * as store from './store.ts';

const USUAL_SECONDS = 3600;

export interface EnrolmentLinksDeps {
  sql: Sql;
  transact: Transact;
  credentials: OtpDeps['credentials'] & Pick<Credentials, 'removeOthers'>;
  passkeys: WebauthnDeps['passkeys'];
  seal: Seal;
  now: () => Date;
}

/** A request with a link. */
export interface Arrival {
  realm: string;
  settings: RealmSettingsDto;
  token: string;
  ipAddress: string;
  site: Site;
  /** Whether the administrator who created the link may still create it. */
  stillMay: AdminRights['stillMay'];
}
/** `over`: used, replaced or expired. */
export type Used = { do: 'done' } | ({ do: 'again'; complaint: Complaint } & SetUp) | { do: 'over' };
/** The page for setting up the credential, and the user it is for. */
export interface SetUp {
  page: StepPage;
  username: string;
}

const digestOf = (token: string): Buffer => sha256(`enrolment-link:${token}`);

function stepOf({ realm, settings, token, ipAddress, site }: Arrival, { user }: store.Found, kept: Form): Step {
  const by: By = { actor: userParty(user.id, user.username), ipAddress };
  return {
    realm,
    settings,
    by,
    byThem: by,
    user,
    site,
    proven: { userId: user.id, credentials: [] },
    config: {},
    enrol: true,
    wanted: true,
    anew: false,
    loginHint: '',
    kept,
    id: 'enrolment-link',
    tab: 0,
    challenge: sha256(`enrolment-link-challenge:${token}`).toString('base64url'),
    providerHint: undefined,
    sessionId: undefined,
    application: undefined,
    userAgent: undefined,
  };
}

export function createEnrolmentLinks({ sql, transact, credentials, passkeys, seal, now }: EnrolmentLinksDeps) {
  const setUps = {
    CONFIGURE_PASSKEY: (within: Transact) => createWebauthn({ passkeys, transact: within }),
    CONFIGURE_OTP: (within: Transact) => createOtp({ credentials, transact: within, seal }),
  };
  /** The method that sets up the credential, writing in the given transaction. */
  const methodFor = (action: LinkAction, within: Transact): Method => setUps[action](within);

  /** A link is valid as long as the administrator who created it may still create it. */
  async function find(
    on: Sql,
    { realm, token, stillMay }: Arrival,
    { lock = false } = {},
  ): Promise<store.Found | undefined> {
    const found = await store.find(on, realm, digestOf(token), { now: now(), lock });
    return found && (await stillMay(found.madeBy, realm, found.user.id, on)) ? found : undefined;
  }

  return {
    /** @throws Problem `privilege-escalation`: the user holds more permissions; `wrong-state`: the user is disabled */
    make: (
      { principal, by, origin, mustCover }: { principal: Principal; by: By; origin: string; mustCover: MustCover },
      realm: string,
      userId: string,
      wish: { action: LinkAction; replaces?: boolean | undefined; expiresInSeconds?: number | undefined },
    ): Promise<{ link: string; expiresAt: number }> =>
      transact(realm, async (tx) => {
        const { action, replaces = true, expiresInSeconds = USUAL_SECONDS } = wish;
        const user = await store.person(tx.sql, realm, userId);
        if (!user) throw new Problem('not-found', 'There is no such user');
        await mustCover(principal, realm, userId, tx.sql);
        if (!user.enabled) throw new Problem('wrong-state', 'The user is disabled');
        const token = newSecret();
        const expiresAt = new Date(now().getTime() + expiresInSeconds * 1000);
        const madeBy = { type: principal.type, realm: principal.realm, id: principal.id };
        await store.put(tx.sql, realm, { id: digestOf(token), userId, action, replaces, madeBy, expiresAt });
        const subject = userParty(user.id, user.username);
        const data = { action, replaces, expiresAt: expiresAt.getTime() };
        tx.record({ type: 'ENROLMENT_LINK_CREATED', realm, by, subject, data });
        return { link: enrolmentLinkTo(origin, realm, token), expiresAt: expiresAt.getTime() };
      }),

    /** Deletes the user's link. @throws Problem `not-found`: the user has none */
    end: (
      { principal, by, mustCover }: { principal: Principal; by: By; mustCover: MustCover },
      realm: string,
      userId: string,
    ): Promise<void> =>
      transact(realm, async (tx) => {
        const user = await store.person(tx.sql, realm, userId);
        if (!user) throw new Problem('not-found', 'There is no such user');
        await mustCover(principal, realm, userId, tx.sql);
        if (!(await store.remove(tx.sql, realm, userId))) throw new Problem('not-found', 'The user has no such link');
        tx.record({ type: 'ENROLMENT_LINK_ENDED', realm, by, subject: userParty(user.id, user.username) });
      }),

    /** The page of the link; undefined: the link is no longer valid. Looking doesn't use it up. */
    async look(at: Arrival): Promise<SetUp | undefined> {
      const found = await find(sql, at);
      if (!found) return undefined;
      const page = await methodFor(found.action, transact).begin(stepOf(at, found, {}), undefined);
      return { page, username: found.user.username };
    },

    /** Sets up the credential, once. @param kept the values that the page kept */
    use: (at: Arrival, form: Form, kept: Form): Promise<Used> =>
      transact(
        at.realm,
        async (tx): Promise<Used> => {
          const { realm } = at;
          const found = await find(tx.sql, at, { lock: true });
          if (!found) return { do: 'over' };
          const method = methodFor(found.action, within(tx));
          const step = stepOf(at, found, kept);
          const verdict = await method.verify(step, form);
          if (verdict.do === 'again') {
            const { complaint } = verdict;
            const page = await method.begin(step, complaint);
            return { do: 'again', complaint, page, username: found.user.username };
          }
          if (verdict.do !== 'passed' || verdict.credentialId === undefined) return { do: 'over' };
          const { user, action, replaces } = found;
          await store.remove(tx.sql, realm, user.id);
          tx.record({
            type: 'ENROLMENT_LINK_USED',
            realm,
            by: step.byThem,
            subject: userParty(user.id, user.username),
            data: { action, credentialId: verdict.credentialId },
          });
          const type = method.credential?.type;
          if (replaces && type)
            await credentials.removeOthers(tx, step.byThem, realm, user, { type, id: verdict.credentialId });
          return { do: 'done' };
        },
        { bookkeeping: true },
      ),
  };
}
export type EnrolmentLinks = ReturnType<typeof createEnrolmentLinks>;

/** Makes a method write in the transaction of the link. */
const within =
  (tx: Tx): Transact =>
  (_, work) =>
    work(tx);
