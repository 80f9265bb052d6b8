// Binds the routes of contract/account.ts and contract/account-credentials.ts: the account pages' functions for programs.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import * as api from '../../../contract/account.ts';
import * as methods from '../../../contract/account-credentials.ts';
import type { By } from '../../../contract/events.ts';
import * as offlineApi from '../../../contract/offline-sessions.ts';
import { faultAt, Problem } from '../../../contract/problem.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import { endAccess } from '../../../domain/end-access.ts';
import { holderOf } from '../../../domain/principal.ts';
import type { RateLimit } from '../../../domain/rate-limit.ts';
import { inRealm } from '../../../domain/rate-limit.ts';
import { type Site, siteOf } from '../../../domain/site.ts';
import { bind } from '../../../http/bind.ts';
import { cursorId, page } from '../../../http/paging.ts';
import type { Notify } from '../../configuration/messaging/notify.ts';
import type { OwnAgents } from '../../people/agents/own.ts';
import type { Gdpr } from '../../people/gdpr/service.ts';
import type { OfflineSessions } from '../../people/sessions/offline.ts';
import type { Sessions } from '../../people/sessions/service.ts';
import type { Browsers } from '../risk/browsers.ts';
import type { AsThemselves } from './as-themselves.ts';
import type { OwnCredentials } from './own-credentials.ts';
import type { AccountWrite, OwnDetails } from './own-details.ts';
import type { OwnPhoneWrites } from './phone.ts';
import { toldActivities } from './sections.ts';
import * as store from './store.ts';

const SHOWN = 100;

export interface AccountApiRoutesDeps {
  sql: Sql;
  transact: Transact;
  details: OwnDetails;
  phone: OwnPhoneWrites;
  methods: OwnCredentials;
  sessions: Pick<Sessions, 'list' | 'byId' | 'end'>;
  offline: OfflineSessions;
  gdpr: Pick<Gdpr, 'eraseOneself'>;
  notify: Notify;
  agents: OwnAgents;
  browsers: Pick<Browsers, 'list' | 'forget'>;
  asThemselves: AsThemselves;
  /** The limit of erasures by client address, shared with the account page. */
  erasures: Pick<RateLimit, 'take'>;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  baseUrl: string;
  now: () => Date;
}

export function accountApiRoutes(app: FastifyInstance, deps: AccountApiRoutesDeps): void {
  const {
    sql,
    transact,
    details,
    phone,
    methods: own,
    sessions,
    offline,
    gdpr,
    notify,
    browsers,
    agents,
    asThemselves,
    settings,
    baseUrl,
    now,
  } = deps;
  async function siteAt(request: FastifyRequest, realm: string): Promise<Site> {
    const policy = await settings.of(realm);
    if (!policy) throw new Problem('not-found');
    return siteOf(request, policy, baseUrl);
  }
  const writeOf = async (request: FastifyRequest, realm: string, by: By): Promise<AccountWrite> => ({
    realm,
    holder: holderOf(request),
    by,
    origin: (await siteAt(request, realm)).origin,
  });

  bind(app, api.getOwnProfile, ({ params: { realm }, request }) => details.profile(realm, holderOf(request).userId));
  bind(app, api.putOwnProfile, async ({ params: { realm }, body, by, request }) =>
    details.changeProfile(await writeOf(request, realm, by), body),
  );
  bind(app, api.startEmailChange, async ({ params: { realm }, body, by, request }) =>
    details.startEmail(await writeOf(request, realm, by), body.email.trim()),
  );
  bind(app, api.confirmEmailChange, async ({ params: { realm }, body, by, request }) => {
    await details.confirmEmail(await writeOf(request, realm, by), body);
    return undefined;
  });
  bind(app, api.getOwnPhone, ({ params: { realm }, request }) => phone.of(realm, holderOf(request).userId));
  bind(app, api.startPhoneChange, async ({ params: { realm }, body, by, request }) =>
    phone.start(await writeOf(request, realm, by), body.number),
  );
  bind(app, api.confirmPhoneChange, async ({ params: { realm }, body, by, request }) => {
    await phone.confirm(await writeOf(request, realm, by), body);
    return undefined;
  });
  bind(app, api.removeOwnPhone, async ({ params: { realm }, by, request }) => {
    await phone.remove(await writeOf(request, realm, by));
    return undefined;
  });
  bind(app, api.putOwnPassword, async ({ params: { realm }, body, by, request }) => {
    await details.changePassword(await writeOf(request, realm, by), body.password);
    return undefined;
  });

  bind(app, methods.listOwnCredentials, ({ params: { realm }, request }) => own.list(realm, holderOf(request)));
  bind(app, methods.deleteOwnCredential, async ({ params: { realm, type, id }, by, request }) => {
    await own.remove(await writeOf(request, realm, by), { type, id });
    return undefined;
  });
  bind(app, methods.startOwnOtp, ({ params: { realm }, request }) => own.startOtp(realm, holderOf(request)));
  bind(app, methods.createOwnOtp, async ({ params: { realm }, body, by, request }) =>
    own.enrolOtp(await writeOf(request, realm, by), body),
  );
  bind(app, methods.startOwnPasskey, async ({ params: { realm }, request }) =>
    own.startPasskey(realm, holderOf(request), await siteAt(request, realm)),
  );
  bind(app, methods.createOwnPasskey, async ({ params: { realm }, body, by, request }) =>
    own.enrolPasskey(await writeOf(request, realm, by), await siteAt(request, realm), body),
  );
  bind(app, methods.createOwnRecoveryCodes, async ({ params: { realm }, by, request }) =>
    own.makeRecoveryCodes(await writeOf(request, realm, by)),
  );
  bind(app, methods.createOwnUserCode, async ({ params: { realm }, body, by, request }) =>
    own.chooseUserCode(await writeOf(request, realm, by), body.code),
  );
  bind(app, methods.createOwnEnrolmentToken, async ({ params: { realm }, by, request }) =>
    own.offerEnrolment(await writeOf(request, realm, by)),
  );
  bind(app, api.listOwnIdentities, ({ params: { realm }, request }) => own.identities(realm, holderOf(request)));
  bind(app, api.deleteOwnIdentity, async ({ params: { realm, id }, by, request }) => {
    await own.removeIdentity(await writeOf(request, realm, by), id);
    return undefined;
  });

  bind(app, api.listOwnSessions, async ({ params: { realm }, request }) => {
    const { userId, sessionId } = holderOf(request);
    const all = (await sessions.list(realm, { userId, limit: SHOWN })).slice(0, SHOWN);
    return all.map((session) => ({ ...session, current: session.id === sessionId }));
  });
  bind(app, api.endOwnSession, async ({ params: { realm, id }, by, request }) => {
    const { userId } = holderOf(request);
    await transact(realm, async (tx) => {
      const session = await sessions.byId(realm, id, tx.sql);
      // Another user's session is answered like a missing one.
      if (session?.userId !== userId) throw new Problem('not-found', 'You have no such session');
      await sessions.end(tx, realm, by, id, { because: 'self' });
    });
    return undefined;
  });
  bind(app, api.endOtherSessions, async ({ params: { realm }, by, request }) => {
    const holder = holderOf(request);
    const { userId } = holder;
    await transact(realm, async (tx) => {
      const keep = asThemselves.keep(holder);
      await endAccess(tx, realm, { people: [userId], cause: 'self', by, at: now(), keep });
      await notify(tx, { realm, by, userId, what: 'sessions-ended' });
    });
    return undefined;
  });

  bind(app, offlineApi.listOwnOfflineSessions, async ({ params: { realm }, request }) =>
    (await offline.list(realm, holderOf(request).userId, { limit: SHOWN })).slice(0, SHOWN),
  );
  bind(app, offlineApi.endOwnOfflineSession, async ({ params: { realm, id }, by, request }) => {
    await offline.end(realm, by, { userId: holderOf(request).userId, id }, { because: 'self' });
    return undefined;
  });
  bind(app, api.listOwnBrowsers, ({ params: { realm }, request }) => browsers.list(realm, holderOf(request).userId));
  bind(app, api.forgetOwnBrowser, async ({ params: { realm, id }, by, request }) => {
    const { userId, username } = holderOf(request);
    if (!(await browsers.forget(by, realm, { id: userId, username }, id)))
      throw new Problem('not-found', 'You have no such browser');
    return undefined;
  });

  bind(app, api.listOwnApplications, ({ params: { realm }, request }) =>
    store.applicationsOf(sql, realm, holderOf(request).userId),
  );
  bind(app, api.listOwnAgents, ({ params: { realm }, request }) => agents.list(realm, holderOf(request).userId));
  bind(app, api.suspendOwnAgent, async ({ params: { realm, id }, by, request }) => {
    await agents.stop(by, realm, { id, owner: holderOf(request).userId });
    return undefined;
  });
  for (const [move, route] of [
    ['revoke', api.revokeOwnAgent],
    ['review', api.reviewOwnAgent],
  ] as const)
    bind(app, route, async ({ params: { realm, id }, by, request }) => {
      await agents.move(by, realm, { id, owner: holderOf(request).userId }, move);
      return undefined;
    });
  bind(app, api.listOwnActivity, async ({ params: { realm }, query: { limit, cursor }, request, reply }) => {
    const wanted = { types: toldActivities, before: cursorId(cursor), limit: limit + 1 };
    const rows = await store.activityOf(sql, realm, holderOf(request).userId, wanted);
    const shown = page({ request, reply }, rows, limit, ({ oldest }) => [oldest]);
    return shown.map(({ at: occurredAt, firstAt: firstOccurredAt, oldest: _, ...row }) => ({
      ...row,
      occurredAt,
      firstOccurredAt,
    }));
  });

  bind(app, api.eraseOwnAccount, async ({ params: { realm }, query, request }) => {
    const { userId, username } = holderOf(request);
    if (query.username !== username) throw faultAt('username', 'must be your own');
    const retryAfterSeconds = deps.erasures.take(inRealm(realm, request.ip));
    if (retryAfterSeconds !== undefined) throw new Problem('too-many-requests', undefined, { retryAfterSeconds });
    await gdpr.eraseOneself(realm, userId);
    return undefined;
  });
}
