// A realm's settings: every field with the value of a fresh realm, in one table. Specification 2.3 and 4.2.
// features/configuration/settings stores them. A field that PUT omits keeps its value (decisions).
import { z } from 'zod';
import { ALL_CONFIGURATION } from './declared-only.ts';
import { managedBy, WithManagers } from './managed-by.ts';
import { HttpUrl, InRealm, name, RealmName, text } from './names.ts';
import { GrantType } from './oauth.ts';
import { freshPasskeySettings, passkeySettings } from './passkeys.ts';
import { PemCertificates } from './pem.ts';
import { MASTER } from './realms.ts';
import { freshWeights, RiskWeights } from './risk.ts';
import { route } from './route.ts';
import { sectionNames } from './section-names.ts';
import { SecurityProfile } from './security-profiles.ts';

const seconds = (max: number) => z.int().min(1).max(max);
const YEAR = 31_536_000;
const colour = z
  .string()
  .regex(/^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/, 'must be a hex colour such as #1a2b3c')
  .meta({ examples: ['#1a2b3c'] });
export const RiskAction = z.enum(['allow', 'step_up', 'deny']);
export type RiskAction = z.infer<typeof RiskAction>;

/** Settings that are stored and exported but have no effect in this release; a test checks the list. */
export const notInEffect: readonly string[] = [];

/** The `aud` that assertions of private_key_jwt may have: a setting, which a client can replace for itself. */
export const AssertionAudience = z.enum(['issuer', 'endpoints']);
export type AssertionAudience = z.infer<typeof AssertionAudience>;

/** Users are run-time data, which nothing locks. */
const declarable = Object.keys(sectionNames).filter((section) => section !== 'users');

/** RFC 8707 §2: an absolute URI without a fragment. */
export const ResourceIndicator = z
  .url('must be an absolute URI without a fragment')
  .max(2048)
  .refine((s) => !s.includes('#') && !s.includes('\0'), 'must be an absolute URI without a fragment');

/**
 * The fields of 2.3 in their order, then additional ones. No defaults here: documents declare only fields that they
 * own.
 */
export const settingsShape = {
  displayName: name(200).describe('What people see'),
  issuer: HttpUrl.nullable().describe(
    'The `iss` of tokens; null: {base_url}/realms/{realm}. https (http on loopback alone), no other realm’s, and below {base_url} nothing but that path',
  ),
  accessTokenTtlSeconds: seconds(86_400).describe('Lifetime of access tokens'),
  refreshTokenTtlSeconds: seconds(10 * YEAR).describe('Lifetime of refresh tokens'),
  reuseRefreshTokens: z
    .boolean()
    .describe('true: a refresh token stays the same; false: it rotates, and reuse ends the grant'),
  requireMfa: z.boolean().describe('Everyone needs a second factor; who has none enrols one at the next sign-in'),
  ssoSessionIdleTimeoutSeconds: seconds(YEAR).describe('A session ends after this much inactivity'),
  ssoSessionMaxLifetimeSeconds: seconds(YEAR).describe('A hard cap on the age of a session'),
  rememberMe: z.boolean().describe('Offer "Remember me" on the sign-in page'),
  rememberMeLifetimeSeconds: seconds(YEAR).describe('Lifetime of a remembered session'),
  lockoutEnabled: z.boolean().describe('Lock a user after too many failed sign-ins'),
  maxLoginFailures: z.int().min(1).max(1000).describe('Failures before the lock'),
  lockoutDurationSeconds: seconds(YEAR).describe('How long the lock lasts'),
  passwordMinLength: z.int().min(8).max(128).describe('Characters a password needs at least'),
  breachedPasswordCheck: z.boolean().describe('Refuse passwords known from breaches'),
  captchaProvider: z
    .enum(['none', 'pow', 'recaptcha', 'hcaptcha', 'turnstile'])
    .describe(
      'What keeps programs from making accounts; none: nothing; pow: a proof of work, which calls nobody and needs JavaScript; the others: a hosted one, whose keys are in `captchas` (without them nobody makes an account)',
    ),
  maxConcurrentSessions: z.int().min(0).max(1000).describe('0: no limit; above it, the oldest session ends'),
  riskPolicyEnabled: z.boolean().describe('The master switch of risk-based sign-in'),
  riskMediumThreshold: z.int().min(0).max(100).describe('Scores from here up are the medium band'),
  riskHighThreshold: z.int().min(0).max(100).describe('Scores from here up are the high band'),
  riskLowAction: RiskAction.describe('What happens in the low band'),
  riskMediumAction: RiskAction.describe('What happens in the medium band'),
  riskHighAction: RiskAction.describe('What happens in the high band'),
  logoUrl: HttpUrl.nullable().describe('Image above the sign-in form'),
  primaryColor: colour.nullable().describe('Hex colour of buttons and links'),
  backgroundColor: colour.nullable().describe('Hex colour behind the card'),
  welcomeText: text(2000).nullable().describe('Shown above the sign-in form'),
  customCss: text(20_000).nullable().describe('Added to the sign-in pages, after their own style sheet'),
  registrationEnabled: z
    .boolean()
    .describe(
      'People may make their own accounts; needs USER_REGISTRATION_ENABLED on the server too. Fresh: true, in master false',
    ),
  registrationEmailAsUsername: z
    .boolean()
    .describe(
      'Whoever makes an account has their e-mail address as username; false: they choose one, and are told if it is taken',
    ),
  registrationVerifyEmail: z
    .boolean()
    .describe(
      'An account is made when the address is confirmed; where the realm sends no e-mail, and with false, at once and unconfirmed',
    ),
  registrationPasskeyEnabled: z
    .boolean()
    .describe(
      'Whoever makes an account may set up a passkey instead of choosing a password, where the flow that signs them in takes it alone',
    ),
  proofOfWorkBits: z
    .int()
    .min(16)
    .max(24)
    .describe(
      'What `captchaProvider: pow` costs, one more twice as much: with 20 a phone works one to three seconds, with 24 half a minute',
    ),
  browserFlow: name(255).describe('Alias of the flow that signs people in'),
  defaultLocale: z
    .string()
    .regex(/^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/)
    .meta({ examples: ['en'] })
    .max(35)
    .describe('Language of pages and messages where a person asked for none of the supported ones'),
  supportedLocales: z
    .array(
      z
        .string()
        .regex(/^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/)
        .meta({ examples: ['en'] })
        .max(35),
    )
    .min(1)
    .max(50)
    .describe(
      'Languages that people get pages in, as far as pages are written in them; `defaultLocale` is one of them',
    ),
  maxMessagesPerRecipientPerHour: z.int().min(1).max(1000).describe('Messages that one address, number or device gets'),
  maxMessagesPerAddressPerHour: z.int().min(1).max(100_000).describe('Messages that one network address causes'),
  maxSmsPerHour: z.int().min(0).max(1_000_000).describe('SMS of the realm, which cost money; 0: none'),
  maxEmailsPerHour: z.int().min(0).max(10_000_000).describe('E-mail of the realm; 0: none'),
  clientAssertionAudience: AssertionAudience.describe(
    'The `aud` of assertions of private_key_jwt. issuer: the issuer alone (RFC 7523bis); endpoints, for older clients: also the address of an endpoint, or a list that holds one of these. A client’s own clientAssertionAudience comes first',
  ),
  tlsClientAuthAuthorities: PemCertificates.nullable().describe(
    'The authorities whose certificates count for clients with tls_client_auth, PEM (RFC 8705); null: none, but for clients that have authorities of their own',
  ),
  requirePushedAuthorizationRequests: z
    .boolean()
    .describe('Authorization requests of all clients have to be pushed first (RFC 9126)'),
  profile: SecurityProfile.nullable().describe(
    'The security profile that all clients are held to, which sets what it demands and refuses what contradicts it: FAPI 2.0 Security Profile or Message Signing. A client that lacks something of it is refused and says so in profileLacks; null: each client’s own profile alone. master has none',
  ),
  workloadTokenTtlSeconds: z.int().min(30).max(3600).describe('Lifetime of tokens minted for workloads'),
  clientRegistration: z
    .enum(['closed', 'token', 'open'])
    .describe('Who may register clients (RFC 7591): nobody, who has an initial access token, everybody'),
  clientRegistrationGrantTypes: z.array(GrantType).max(20).describe('Grants that a client may register for'),
  clientRegistrationScopes: z
    .array(name(255))
    .max(200)
    .describe('Scopes that a client may register for; empty: the standard’s own (profile, email, …)'),
  clientRegistrationRedirectHosts: z
    .array(name(253))
    .max(200)
    .describe('Hosts that a registered client may send people back to; empty: any'),
  clientRegistrationResources: z
    .array(ResourceIndicator)
    .max(200)
    .describe('What a client that registers may ask tokens for, of the realm’s resource indicators; empty: nothing'),
  clientRegistrationConsent: z
    .boolean()
    .describe('Whether people are asked before a registered client learns about them'),
  clientIdMetadataDocuments: z
    .boolean()
    .describe(
      'Whether the https address of its metadata is a client’s id (OAuth Client ID Metadata Document): nobody registers it, and people are always asked',
    ),
  clientIdMetadataHosts: z.array(name(253)).max(200).describe('Hosts whose metadata documents are taken; empty: any'),
  mostRegisteredClients: z.int().min(0).max(1_000_000).describe('Clients that registered themselves, at most'),
  initialAccessTokenTtlSeconds: seconds(YEAR).describe('Lifetime of initial access tokens that say no other'),
  termsUrl: HttpUrl.nullable().describe('The terms that people accept who must do TERMS; null: no link to them'),
  termsVersion: name(100)
    .nullable()
    .describe(
      'The version of the terms: who has accepted another one, or none, does so at the next sign-in; null: only who must do TERMS',
    ),
  passwordRequireLowercase: z.boolean().describe('A password needs a lower-case letter'),
  passwordRequireUppercase: z.boolean().describe('A password needs an upper-case letter'),
  passwordRequireDigit: z.boolean().describe('A password needs a digit'),
  passwordRequireSymbol: z.boolean().describe('A password needs a sign that is neither letter nor digit'),
  passwordHistory: z
    .int()
    .min(0)
    .max(24)
    .describe('So many last passwords of a person, the present one included, can’t be chosen again; 0: any can'),
  passwordMaxAgeDays: z
    .int()
    .min(0)
    .max(3650)
    .describe('An older password has to be changed at the next sign-in; 0: none has to'),
  passwordRecoveryEnabled: z
    .boolean()
    .describe(
      'Whoever forgot their password is sent a link to a confirmed e-mail address, where the realm sends e-mail',
    ),
  passwordBlocklist: z
    .array(text(128).min(3))
    .max(1000)
    .describe('Words that no password may contain, whatever their case'),
  guessablePasswordCheck: z
    .boolean()
    .describe(
      'Refuse passwords that are easy to guess: the most common ones, repeated signs and rows such as abcd or qwerty, the person’s own names, each also with little added',
    ),
  mostAppliedPlans: z
    .int()
    .min(0)
    .max(1000)
    .describe('Applied plans that are kept to be looked at and undone; 0: none'),
  subjectStrategy: z
    .enum(['public', 'pairwise', 'attribute'])
    .describe(
      'The `sub` of tokens: public: the person’s id; pairwise: another one for each sector of clients (OpenID Connect Core §8.1); attribute: the value of subjectAttribute',
    ),
  subjectAttribute: name(255)
    .nullable()
    .describe(
      'The attribute whose value is `sub`: no two people can have the same; who has none, several, or one that isn’t 1 to 255 characters of ASCII, gets no tokens',
    ),
  deviceRemembering: z
    .enum(['always', 'ask'])
    .describe(
      'Which browsers are known to be a person’s: always: every one that they have signed in with; ask: those in which they tick a box at the sign-in',
    ),
  riskWeights: RiskWeights.describe(
    'The points of each thing that speaks for a risk: 0: it isn’t looked at; one that is left out has those of a fresh realm',
  ),
  newDeviceNoticeEnabled: z
    .boolean()
    .describe(
      'Whoever signs in on a device that they have not used before is told by mail, where the realm sends e-mail, with a link to say that it was not them',
    ),
  ...passkeySettings,
  declaredOnly: z
    .array(z.enum([ALL_CONFIGURATION, ...declarable]))
    .max(100)
    .describe(
      'Sections of the realm document that only documents of a manager change, such as the operator’s; `*`: all configuration. An administrator changes an object of them by hand while a hold stands on it. Users are never locked. Changing this setting needs `managers:write` too',
    ),
};

/** The settings in a realm document and a Realm resource: any subset. */
export const SettingsDocument = z.strictObject(settingsShape).partial();
export type SettingsDocument = z.infer<typeof SettingsDocument>;

const stored = z.object(settingsShape);
/** All settings with a value, without the realm's name. */
export type Settings = z.infer<typeof stored>;
export const settingNames = Object.keys(settingsShape) as (keyof Settings)[];

/** The values of a freshly seeded realm (2.3); `displayName` is the realm's name until it is set. */
export const freshSettings = (realm: string): Settings => ({
  displayName: realm,
  issuer: null,
  accessTokenTtlSeconds: 3600,
  refreshTokenTtlSeconds: 5_184_000,
  reuseRefreshTokens: false,
  requireMfa: false,
  ssoSessionIdleTimeoutSeconds: 1800,
  ssoSessionMaxLifetimeSeconds: 36_000,
  rememberMe: false,
  rememberMeLifetimeSeconds: 2_592_000,
  lockoutEnabled: false,
  maxLoginFailures: 5,
  lockoutDurationSeconds: 900,
  passwordMinLength: 12,
  breachedPasswordCheck: false,
  captchaProvider: 'none',
  maxConcurrentSessions: 0,
  riskPolicyEnabled: false,
  riskMediumThreshold: 40,
  riskHighThreshold: 70,
  riskLowAction: 'allow',
  riskMediumAction: 'step_up',
  riskHighAction: 'deny',
  logoUrl: null,
  primaryColor: null,
  backgroundColor: null,
  welcomeText: null,
  customCss: null,
  // master's users can administer every realm, so self-registration there is off until an administrator turns it on
  registrationEnabled: realm !== MASTER,
  registrationEmailAsUsername: true,
  registrationVerifyEmail: true,
  registrationPasskeyEnabled: false,
  proofOfWorkBits: 20,
  browserFlow: 'browser',
  defaultLocale: 'en',
  supportedLocales: ['en'],
  maxMessagesPerRecipientPerHour: 10,
  maxMessagesPerAddressPerHour: 100,
  maxSmsPerHour: 1000,
  maxEmailsPerHour: 20_000,
  clientAssertionAudience: 'issuer',
  requirePushedAuthorizationRequests: false,
  tlsClientAuthAuthorities: null,
  profile: null,
  workloadTokenTtlSeconds: 300,
  clientRegistration: 'token',
  clientRegistrationGrantTypes: ['authorization_code', 'refresh_token'],
  clientRegistrationScopes: [],
  clientRegistrationRedirectHosts: [],
  clientRegistrationResources: [],
  clientRegistrationConsent: true,
  clientIdMetadataDocuments: false,
  clientIdMetadataHosts: [],
  mostRegisteredClients: 1000,
  initialAccessTokenTtlSeconds: 86_400,
  termsUrl: null,
  termsVersion: null,
  passwordRequireLowercase: false,
  passwordRequireUppercase: false,
  passwordRequireDigit: false,
  passwordRequireSymbol: false,
  passwordHistory: 0,
  passwordMaxAgeDays: 0,
  passwordBlocklist: [],
  guessablePasswordCheck: true,
  passwordRecoveryEnabled: true,
  mostAppliedPlans: 100,
  subjectStrategy: 'public',
  subjectAttribute: null,
  deviceRemembering: 'always',
  riskWeights: { ...freshWeights },
  newDeviceNoticeEnabled: true,
  ...freshPasskeySettings,
  declaredOnly: [],
});

export const RealmSettingsDto = z
  .object({
    realmId: RealmName,
    ...settingsShape,
    resourceIndicators: z
      .array(z.string())
      .describe('RFC 8707: the resources that tokens may be asked for; below {base_url} the realm’s own path alone'),
    ...managedBy,
  })
  .meta({ id: 'RealmSettingsDto' });
export type RealmSettingsDto = z.infer<typeof RealmSettingsDto>;

export const SettingsInput = SettingsDocument.extend({
  realmId: RealmName.optional().describe('As it was read; must be the realm of the path'),
  resourceIndicators: z.array(ResourceIndicator).max(1000).optional(),
  ...managedBy,
});
export type SettingsInput = z.infer<typeof SettingsInput>;

export const getSettings = route({
  method: 'GET',
  path: '/admin/realms/:realm/settings',
  tag: 'settings',
  summary: "Read the realm's settings",
  permission: 'settings:read',
  params: InRealm,
  query: WithManagers,
  response: RealmSettingsDto,
});

export const putSettings = route({
  method: 'PUT',
  path: '/admin/realms/:realm/settings',
  tag: 'settings',
  summary: "Replace the realm's settings",
  description: 'A field that is left out keeps its stored value; an unknown field is refused.',
  permission: 'settings:write',
  params: InRealm,
  body: SettingsInput,
  example: { displayName: 'Acme', accessTokenTtlSeconds: 600, primaryColor: '#0a7c66' },
  response: RealmSettingsDto,
  problems: ['declared-only', 'precondition-failed', 'privilege-escalation'],
});
