// Owns: the content of each view of the account page; a view reads only what it shows.
// Does not own: the page's frame (pages.ts), its actions (routes.ts and the files of the sections).
// Implements: specification 4.11.
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Factors } from '../../../domain/factors.ts';
import type { Site } from '../../../domain/site.ts';
import { type Html, html } from '../../../http/html.ts';
import { text } from '../../../http/texts.ts';
import type { OwnAgents } from '../../people/agents/own.ts';
import type { PasskeySignals, Passkeys } from '../../people/credentials/passkeys.ts';
import type { Credentials } from '../../people/credentials/service.ts';
import type { Gdpr } from '../../people/gdpr/service.ts';
import type { OfflineSessions } from '../../people/sessions/offline.ts';
import type { Sessions, SsoSession } from '../../people/sessions/service.ts';
import type { OwnEmails } from '../../people/users/own-email.ts';
import type { OwnProfiles } from '../../people/users/own-profile.ts';
import type { Browsers } from '../risk/browsers.ts';
import type { MayHavePassword } from './own-password.ts';
import type { AccountSection } from './section.ts';
import {
  activitySection,
  agentsSection,
  applicationsSection,
  dataSection,
  offlineSection,
  ownApplicationsSection,
  profileSection,
  type SectionParts,
  toldActivities,
} from './sections.ts';
import { sessionList } from './session-list.ts';
import { methodsSection, PASSWORD } from './sign-in-methods.ts';
import * as store from './store.ts';
import type { AccountViewName } from './views.ts';

export interface ContentDeps {
  sql: Sql;
  sessions: Pick<Sessions, 'list'>;
  factors: Pick<Factors, 'kinds'>;
  credentials: Pick<Credentials, 'list'>;
  passkeys: Pick<Passkeys, 'signals'>;
  mayHavePassword: MayHavePassword;
  profiles: Pick<OwnProfiles, 'read' | 'fields'>;
  emails: Pick<OwnEmails, 'of'>;
  browsers: Pick<Browsers, 'list'>;
  offline: Pick<OfflineSessions, 'list'>;
  gdpr: Pick<Gdpr, 'consents'>;
  agents: Pick<OwnAgents, 'list'>;
  sends(realm: string, channel: 'EMAIL'): Promise<boolean>;
  /** Sections of other features. */
  sections: readonly AccountSection[];
  now: () => Date;
}

export interface AccountVisit {
  realm: string;
  settings: RealmSettingsDto;
  session: SsoSession;
  profile: store.Profile;
  /** Show events older than this one; undefined: from the newest. `''` is the newest, too. */
  activity: string | undefined;
  parts: SectionParts;
  site: Site;
}

export interface Content {
  body: Html;
  /** Addresses of pictures. */
  images?: readonly string[];
  /** The passkeys that the browser is told of. */
  signals?: PasskeySignals;
}

const SHOWN = 100;
const ACTIVITIES = 20;

/** The user's name as the heading shows it. */
export const fullName = ({ first_name: first, last_name: last }: store.Profile): string =>
  [first, last].filter(Boolean).join(' ');

export function createContents(deps: ContentDeps) {
  const { sql, credentials, now } = deps;
  const titlesOf = async (realm: string, clientIds: readonly string[]): Promise<ReadonlyMap<string, string>> =>
    new Map(clientIds.length > 0 ? await store.clientTitles(sql, realm, [...new Set(clientIds)]) : []);

  const contents: Record<AccountViewName, (visit: AccountVisit) => Promise<Content>> = {
    async profile({ realm, session: { userId }, profile, parts }) {
      const [{ shown, inputs }, person, address, mails] = await Promise.all([
        deps.profiles.fields(realm),
        deps.profiles.read(realm, userId),
        deps.emails.of(realm, userId),
        deps.sends(realm, 'EMAIL'),
      ]);
      const values = new Map(Object.entries(person?.attributes ?? {}));
      const isUnconfirmed = address.email !== null && !address.verified;
      const emailWords = isUnconfirmed ? text('account.confirmEmail') : text('account.changeEmail');
      const changes = [
        ...(inputs.length > 0 ? [{ action: 'UPDATE_PROFILE' as const, words: text('account.changeProfile') }] : []),
        ...(mails && (address.mayChange || isUnconfirmed)
          ? [{ action: 'VERIFY_EMAIL' as const, words: emailWords }]
          : []),
      ];
      const view = {
        profile,
        isUnconfirmed,
        name: fullName(profile),
        attributes: shown.map(({ name, label }) => [label, values.get(name) ?? []] as const),
        changes: parts.mayChange ? changes : [],
      };
      return { body: profileSection(view, parts) };
    },

    async security({ realm, session: { userId }, parts }) {
      const [own, usable] = await Promise.all([credentials.list(realm, userId), store.usedAuthenticators(sql, realm)]);
      const has = own.some(({ type }) => type === PASSWORD);
      const password = await deps.mayHavePassword(realm, userId, { has });
      return { body: methodsSection({ credentials: own, kinds: deps.factors.kinds, usable, password }, parts) };
    },

    async devices({ realm, session: { id, userId }, parts }) {
      const [all, browsers] = await Promise.all([
        deps.sessions.list(realm, { userId, limit: SHOWN }),
        deps.browsers.list(realm, userId),
      ]);
      const sessions = all.slice(0, SHOWN);
      const titles = await titlesOf(
        realm,
        sessions.flatMap(({ clients }) => clients),
      );
      return { body: sessionList({ sessions, browsers, currentId: id, titles }, parts) };
    },

    async applications({ realm, session: { userId }, parts }) {
      const [applications, consents, offline, agents] = await Promise.all([
        store.applicationsOf(sql, realm, userId),
        deps.gdpr.consents(realm, userId),
        deps.offline.list(realm, userId, { limit: SHOWN }),
        deps.agents.list(realm, userId),
      ]);
      const granted = [...consents, ...offline];
      const allowed = [...new Set(granted.flatMap(({ scopes }) => scopes))];
      const [titles, scopes] = await Promise.all([
        titlesOf(
          realm,
          granted.map(({ clientId }) => clientId),
        ),
        allowed.length > 0 ? store.scopeDescriptions(sql, realm, allowed) : [],
      ]);
      const shared = { ...parts, titles, scopes: new Map(scopes) };
      // Consents of agents' clients are listed with the agents.
      const others = new Set(agents.flatMap(({ because, clientId }) => (because === 'consent' ? [clientId] : [])));
      const hasNone = granted.length + agents.length === 0;
      return {
        body: html`${ownApplicationsSection(applications)}
${hasNone && html`<h2>${text('account.access')}</h2>\n<p class="soft">${text('account.noAccess')}</p>`}
${applicationsSection(
  consents.filter(({ clientId }) => !others.has(clientId)),
  shared,
)}
${offlineSection(offline, shared)}
${agentsSection(agents, consents, { ...shared, now: now() })}`,
        images: applications.flatMap(({ iconUrl }) => iconUrl ?? []),
      };
    },

    data: async ({ parts }) => ({ body: dataSection(parts) }),

    async activity({ realm, session: { userId }, activity, parts }) {
      const before = activity === '' ? undefined : activity;
      const paging = { types: toldActivities, before, limit: ACTIVITIES + 1 };
      const happened = await store.activityOf(sql, realm, userId, paging);
      const view = {
        rows: happened.slice(0, ACTIVITIES),
        isOlder: before !== undefined,
        next: happened.length > ACTIVITIES ? happened[ACTIVITIES - 1]?.oldest : undefined,
      };
      const titles = await titlesOf(
        realm,
        happened.flatMap(({ clientId }) => clientId ?? []),
      );
      return { body: activitySection(view, { ...parts, titles, realm }) };
    },
  };

  return async (view: AccountViewName, visit: AccountVisit): Promise<Content> => {
    const theirs = deps.sections.filter((one) => one.view === view);
    const { realm, session, parts, site } = visit;
    const user = { id: session.userId, username: session.username };
    // In an impersonated session the browser is an administrator's.
    const tells = parts.mayChange && (view === 'profile' || view === 'security');
    const [{ body, ...more }, signals, sections] = await Promise.all([
      contents[view](visit),
      tells ? deps.passkeys.signals(realm, user, site) : undefined,
      Promise.all(theirs.map(({ show }) => show(visit.realm, visit.session, visit.parts))),
    ]);
    return { ...more, ...(signals && { signals }), body: html`${body}${sections.map((section) => html`${section}`)}` };
  };
}
