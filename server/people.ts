// The composition root of how people sign in: credentials, flows, sessions and their pages, built once for app.ts.
// It decides nothing. Design "Composition root".
import type { FastifyInstance } from 'fastify';
import { createIdentityBrokering } from './brokering.ts';
import type { RealmSettingsDto } from './contract/settings.ts';
import type { Passwords } from './crypto/passwords.ts';
import type { Seal } from './crypto/seal.ts';
import type { TokenSeal } from './crypto/token-seal.ts';
import type { RealmSql } from './db/realm-share.ts';
import type { Sql } from './db/sql.ts';
import type { Transact } from './db/transact.ts';
import { type CodeGuessDeps, createCodeGuesses } from './domain/code-guesses.ts';
import { createFactors } from './domain/factors.ts';
import { createRateLimit, type RateLimit } from './domain/rate-limit.ts';
import { createBrowsersSection } from './features/authentication/account/browsers.ts';
import { ERASURES_A_MINUTE } from './features/authentication/account/erase.ts';
import { createOwnIdentities } from './features/authentication/account/own-identities.ts';
import { createMayHavePassword } from './features/authentication/account/own-password.ts';
import { createForgetPhone, createPhoneSection } from './features/authentication/account/phone.ts';
import { accountRoutes } from './features/authentication/account/routes.ts';
import { createWaysLeft } from './features/authentication/account/ways-left.ts';
import { createContacts } from './features/authentication/authenticators/contact.ts';
import { createMailedCodes } from './features/authentication/authenticators/mailed-code.ts';
import { createRegistry } from './features/authentication/authenticators/registry.ts';
import { enrolmentLinkPages } from './features/authentication/enrolment-links/routes.ts';
import { createEnrolmentLinks } from './features/authentication/enrolment-links/service.ts';
import { impersonationPages } from './features/authentication/impersonation/routes.ts';
import { invitationPages } from './features/authentication/invitations/page-routes.ts';
import { createInvitations } from './features/authentication/invitations/service.ts';
import { newDeviceRoutes } from './features/authentication/new-device/routes.ts';
import { createNewDevices } from './features/authentication/new-device/service.ts';
import { recoveryRoutes } from './features/authentication/recovery/routes.ts';
import { createRecovery } from './features/authentication/recovery/service.ts';
import { createBrowsers } from './features/authentication/risk/browsers.ts';
import { createLocator } from './features/authentication/risk/location.ts';
import { createRisk } from './features/authentication/risk/service.ts';
import { createRegister } from './features/authentication/self-registration/register.ts';
import { askedAgain, type Continuation } from './features/authentication/sign-in/continuation.ts';
import { inTab } from './features/authentication/sign-in/cookie.ts';
import { createNewPassword } from './features/authentication/sign-in/new-password.ts';
import { createProfile } from './features/authentication/sign-in/profile.ts';
import { type PageLink, signInRoutes } from './features/authentication/sign-in/routes.ts';
import { createSignIns } from './features/authentication/sign-in/service.ts';
import { createTerms } from './features/authentication/sign-in/terms.ts';
import { createVerifyEmail } from './features/authentication/sign-in/verify-email.ts';
import { createVerifyPhone } from './features/authentication/sign-in/verify-phone.ts';
import { createCaptchas } from './features/configuration/captchas/check.ts';
import { createFlows } from './features/configuration/flows/service.ts';
import type { Keys } from './features/configuration/keys/service.ts';
import { createLanguages } from './features/configuration/message-texts/languages.ts';
import type { Notify } from './features/configuration/messaging/notify.ts';
import type { PushTokens } from './features/configuration/messaging/push-tokens.ts';
import type { Send } from './features/configuration/messaging/send.ts';
import type { SettingsService } from './features/configuration/settings/service.ts';
import type { Access } from './features/operations/admin-access/service.ts';
import { createOwnAgents } from './features/people/agents/own.ts';
import { createCommonPasswords } from './features/people/credentials/common-passwords.ts';
import { createDeviceKeys } from './features/people/credentials/devices.ts';
import { createChoosePassword } from './features/people/credentials/new-password.ts';
import { createPasskeys } from './features/people/credentials/passkeys.ts';
import { createRecoveryCodes } from './features/people/credentials/recovery-codes.ts';
import { createCredentials } from './features/people/credentials/service.ts';
import type { PasswordSource } from './features/people/credentials/sources.ts';
import { appPageRoutes } from './features/people/devices/app-page.ts';
import { createChallenges } from './features/people/devices/challenges.ts';
import { createEnrolments } from './features/people/devices/enrolment.ts';
import { deviceRoutes } from './features/people/devices/routes.ts';
import { type DeviceSurface, guardDevices } from './features/people/devices/surface.ts';
import { createTransactions } from './features/people/devices/transactions.ts';
import type { Gdpr } from './features/people/gdpr/service.ts';
import { createOfflineSessions } from './features/people/sessions/offline.ts';
import { createSessions } from './features/people/sessions/service.ts';
import { createOwnAccounts } from './features/people/users/own-account.ts';
import { createOwnEmails } from './features/people/users/own-email.ts';
import { createOwnPhones } from './features/people/users/own-phone.ts';
import { createOwnProfiles } from './features/people/users/own-profile.ts';
import type { Logouts } from './features/protocol/logout/service.ts';
import type { SingleLogout } from './features/protocol/saml/logout.ts';
import { createSharingSection } from './features/protocol/uma/account-section.ts';
import type { Sharing } from './features/protocol/uma/sharing.ts';
import type { Outbound } from './http/outbound.ts';
import { mountPageAssets, pageErrors } from './http/pages.ts';
import { languageRoute, speaksTo } from './http/spoken.ts';
import { createDistrust } from './reported.ts';

/** Sign-ins of one address that need a row before anybody has proven anything; what fits into a cookie needs none. */
const UNPROVEN_A_MINUTE = 60;
/** Of pages that wait: as many as an office shows at once, each every three seconds. */
const LOOKS_A_MINUTE = 1200;
/** Links for forgotten passwords that one address may ask for. */
const RECOVERIES_A_MINUTE = 10;
/** Forms for an account that one address may send. */
const REGISTRATIONS_A_MINUTE = 20;

export interface PeopleDeps {
  sql: Sql;
  /** For writes of one statement without an audit event. */
  realmSql: RealmSql;
  /** For reads that many do at the same moment. */
  batchedReads: Sql;
  transact: Transact;
  seal: Seal;
  /** For sign-ins that were only begun. */
  signInSeal: TokenSeal;
  settings: SettingsService;
  /** Asks for a message, in the transaction of what it is about. */
  send: Send;
  /** Tells people what was changed of their account. */
  notify: Notify;
  /** Whether the realm has somebody who sends for the channel. */
  sends(realm: string, channel: 'EMAIL' | 'SMS'): Promise<boolean>;
  pushTokens: Pick<PushTokens, 'replace'>;
  attempts: RateLimit;
  /** What the realm proves itself by to identity providers. */
  keys: Pick<Keys, 'active' | 'certificates' | 'decrypting'>;
  outbound: Outbound;
  log(message: string): void;
  /** What placeholders stand for. */
  environment: Readonly<Record<string, string>>;
  /** Whether a password is known from breaches. */
  breached(plain: string): Promise<boolean>;
  /** Where passwords are known beside the realm itself. */
  elsewhere: PasswordSource;
  /** By which the proxies in front say where a browser is. */
  locationHeaders: readonly string[];
  passwords: Passwords;
  wrongCode: CodeGuessDeps['wrongCode'];
  /** Whether the server lets people make accounts where their realm does. */
  registration: boolean;
  baseUrl: string;
  now: () => Date;
  newId: () => string;
}

export function createPeople(deps: PeopleDeps) {
  const { sql, realmSql, batchedReads, transact, seal, signInSeal } = deps;
  const { settings, send, notify, sends, pushTokens, attempts, breached, elsewhere, passwords, baseUrl, now, newId } =
    deps;
  const languages = createLanguages({ sql, now });
  const rules = { settings, passwords, breached, common: createCommonPasswords(), elsewhere };
  const codeGuesses = createCodeGuesses({ realmSql, transact, seal, wrongCode: deps.wrongCode, now });
  const writes = { sql, realmSql, batchedReads, transact, seal, notify, now, newId };
  const credentials = createCredentials({ ...writes, ...rules, codeGuesses });
  const recoveryCodes = createRecoveryCodes({ transact, notify, now, newId });
  const passkeys = createPasskeys({ sql, realmSql, seal, notify, now, newId });
  const deviceKeys = createDeviceKeys({ notify, now });
  const challenges = createChallenges({ ...writes, send, credentials, deviceKeys, baseUrl });
  const enrolments = createEnrolments({
    ...{ sql, realmSql, transact, seal, settings, pushTokens },
    ...{ deviceKeys, baseUrl, now, newId },
  });
  const codes = createMailedCodes({ send, codeGuesses, seal, now });
  const accounts = createOwnAccounts({ sql, transact, setPassword: credentials.setPassword, now, newId });
  const identities = createIdentityBrokering({
    ...{ ...deps, accounts, credentials, codes },
    firstSteps: (realm, flow) => flows.firstSteps(realm, flow),
  });
  const { brokering, homes, links } = identities;
  const registry = createRegistry({
    ...{ credentials, passkeys, recoveryCodes, challenges, enrolments, brokering, homes },
    ...{ transact, send, sends, seal, breached, now, newId },
  });
  const factors = createFactors(registry);
  const waysLeft = createWaysLeft({ credentials, factors });
  const ownIdentities = createOwnIdentities({ links, waysLeft });
  const erasures = createRateLimit({ limit: ERASURES_A_MINUTE, now });
  const flows = createFlows({ sql, transact, settings, registry, now, newId });
  const sessions = createSessions({ sql, realmSql, transact, settings, factors, baseUrl, now, newId });
  const offline = createOfflineSessions({ sql, transact, now });
  const upstreamLogout = identities.logoutWith(sessions);
  const browsers = createBrowsers({ sql, transact, notify });
  const agents = createOwnAgents({ sql, transact, now });
  const risk = createRisk({ sql, baseUrl, locate: createLocator(deps.locationHeaders), now, newId });
  const choosePassword = createChoosePassword({ credentials });
  const profiles = createOwnProfiles({ sql, transact });
  const emails = createOwnEmails({ sql });
  const phones = createOwnPhones({ sql });
  const contacts = createContacts({ emails, phones, codes, credentials, notify });
  const forgetPhone = createForgetPhone({ phones, notify, now });
  const recovery = createRecovery({
    ...{ sql, transact, credentials, choosePassword, send, now },
    identifies: factors.identifiedBy,
  });
  const newDevices = createNewDevices({
    ...{ sql, transact, recovery, send, sends, now },
    distrust: createDistrust({ browsers, notify, now, newId }),
  });
  const enrolmentLinks = createEnrolmentLinks({ sql, transact, credentials, passkeys, seal, now });
  const recovers = async (realm: string, { passwordRecoveryEnabled }: RealmSettingsDto): Promise<boolean> =>
    passwordRecoveryEnabled && sends(realm, 'EMAIL');
  const isOpen = ({ registrationEnabled }: Pick<RealmSettingsDto, 'registrationEnabled'>): boolean =>
    deps.registration && registrationEnabled;
  const invitations = createInvitations({
    ...{ sql, transact, accounts, choosePassword, passkeys, send, sends, now, newId },
  });
  const register = createRegister({
    ...{ accounts, choosePassword, codes, credentials, passkeys },
    newId,
    captchas: createCaptchas({ sql, seal, outbound: deps.outbound, log: deps.log }),
    transact,
    seal,
    sends,
    attempts: createRateLimit({ limit: REGISTRATIONS_A_MINUTE, now }),
  });
  const signIns = createSignIns({
    sql,
    realmSql,
    transact,
    settings,
    flows,
    registry,
    required: [
      createNewPassword({ credentials, choosePassword, transact }),
      createVerifyEmail({ contact: contacts.email, transact }),
      createVerifyPhone({ contact: contacts.phone, sends, transact }),
      createProfile({ profiles, notify }),
      createTerms({ transact }),
    ],
    register: { ...register, isOpen },
    factors,
    credentials,
    sessions,
    sends,
    risk,
    newDevices,
    attempts,
    unproven: createRateLimit({ limit: UNPROVEN_A_MINUTE, now }),
    seal: signInSeal,
    baseUrl,
    now,
  });
  return {
    credentials,
    registry,
    factors,
    flows,
    sessions,
    ...{ signIns, risk, newDevices },
    enrolments,
    enrolmentLinks,
    links,
    upstreamLogout,
    mountProviderTokens: identities.mountTokens,
    /** What people change of their own account. */
    own: {
      ...{ credentials, passkeys, recoveryCodes, enrolments, links, ownIdentities, waysLeft, factors },
      ...{ profiles, emails, contacts, choosePassword, erasures, offline, browsers, phones, forgetPhone, agents },
    },
    languages,
    drop(realm: string | undefined): void {
      flows.drop(realm);
      identities.drop(realm);
      languages.drop(realm);
    },
    invitations,
    /** What devices call. */
    mountDevices(app: FastifyInstance, known: Pick<DeviceSurface, 'realmExists' | 'tokens' | 'subjects'>): void {
      const refused = createRateLimit({ now });
      guardDevices(app, {
        sql,
        enrolments,
        deviceKeys,
        attempts: refused,
        issuer: settings.issuer,
        ...known,
        baseUrl,
        now,
      });
      const transactions = createTransactions({ sql, transact, send, deviceKeys, now, newId });
      deviceRoutes(app, { transact, enrolments, challenges, pushTokens, transactions });
    },
    /** `continuations`: what sign-ins go on to, as what an application asked for. */
    mountPages(
      pages: FastifyInstance,
      {
        continuations,
        logout,
        singleLogout,
        gdpr,
        sharing,
        access,
      }: {
        continuations: readonly Continuation[];
        logout: Pick<Logouts, 'signOut'>;
        singleLogout: Pick<SingleLogout, 'begin'>;
        gdpr: Gdpr;
        sharing: Sharing;
        access: Pick<Access, 'stillMay'>;
      },
    ): void {
      pages.setErrorHandler(pageErrors(settings.of));
      // Redirects too: "back" after signing out takes a kept one without asking, and goes round in circles.
      pages.addHook('onRequest', (_, reply, done) => {
        void reply.header('cache-control', 'no-store');
        done();
      });
      const spoken = { settings, languages, baseUrl };
      speaksTo(pages, spoken);
      languageRoute(pages, spoken);
      mountPageAssets(pages, { brandOf: settings.of });
      const signInFor = (realm: string, asked: string | undefined): string =>
        (asked === undefined ? undefined : askedAgain(continuations, realm, asked)) ??
        `/realms/${realm}/login?for=account`;
      const withAsked = (path: string, asked: string | undefined): string =>
        asked === undefined ? path : `${path}?${new URLSearchParams({ asked })}`;
      const pageLinks: PageLink[] = [
        {
          words: 'recover.forgot',
          beside: 'username-password',
          offered: recovers,
          path: (realm, asked) => withAsked(`/realms/${realm}/login/forgot`, asked),
        },
        {
          words: 'register.way',
          offered: async (_, policy) => isOpen(policy),
          path: (realm, _, tab) => inTab(`/realms/${realm}/register`, tab),
        },
      ];
      signInRoutes(pages, {
        signIns,
        sessions,
        settings,
        registry,
        continuations,
        links: pageLinks,
        looks: createRateLimit({ limit: LOOKS_A_MINUTE, now }),
        isOpen,
      });
      upstreamLogout.mount(pages, singleLogout);
      const connections = identities.connectionsWith(sessions);
      identities.mountPages(pages, { signIns, continuations, connections });
      const recoveries = createRateLimit({ limit: RECOVERIES_A_MINUTE, now });
      appPageRoutes(pages, { settings });
      recoveryRoutes(pages, { recovery, settings, offered: recovers, signInFor, attempts: recoveries, baseUrl });
      enrolmentLinkPages(pages, { links: enrolmentLinks, settings, access, baseUrl });
      newDeviceRoutes(pages, { newDevices, settings, recovers, baseUrl });
      const tries = createRateLimit({ limit: REGISTRATIONS_A_MINUTE, now });
      invitationPages(pages, { invitations, sessions, signIns, settings, attempts: tries, baseUrl });
      impersonationPages(pages, { transact, sessions, settings, baseUrl });
      accountRoutes(pages, {
        ...{ sql, transact, sessions, factors, credentials, signIns, logout, settings, now },
        ...{
          profiles,
          emails,
          waysLeft,
          mayHavePassword: createMayHavePassword({ flows, elsewhere }),
          gdpr,
          notify,
          sends,
          erasures,
          offline,
          agents,
        },
        sections: [
          identities.section(connections, ownIdentities),
          createPhoneSection({ phones, forgetPhone, sends, transact }),
          createBrowsersSection(browsers),
          createSharingSection(sharing),
        ],
      });
    },
  };
}
export type People = ReturnType<typeof createPeople>;
