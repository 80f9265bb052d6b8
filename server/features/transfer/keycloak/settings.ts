// A realm's settings as Keycloak exports them → ours, with the mail server; and what of them has no counterpart.
// docs/keycloak.md has the table.
import { RequiredAction } from '../../../contract/users.ts';
import { isMasked, type Realm } from './export-shape.ts';
import type { Notes } from './notes.ts';
import { passwordRules } from './password-policy.ts';

type Exported = Readonly<Record<string, unknown>>;

/** Settings that mean the same, by Keycloak's names. */
const same: Readonly<Record<string, string>> = {
  accessTokenLifespan: 'accessTokenTtlSeconds',
  ssoSessionIdleTimeout: 'ssoSessionIdleTimeoutSeconds',
  ssoSessionMaxLifespan: 'ssoSessionMaxLifetimeSeconds',
  offlineSessionIdleTimeout: 'refreshTokenTtlSeconds',
  rememberMe: 'rememberMe',
  registrationAllowed: 'registrationEnabled',
  bruteForceProtected: 'lockoutEnabled',
  failureFactor: 'maxLoginFailures',
  maxFailureWaitSeconds: 'lockoutDurationSeconds',
};

const NOT_HERE = 'has no counterpart here';
/** What is told where it isn't as Keycloak makes a realm: that value, and what is here instead. */
const others: Readonly<Record<string, { usual: unknown; why: string }>> = {
  enabled: { usual: true, why: 'a realm can’t be disabled here' },
  permanentLockout: { usual: false, why: 'a lock ends by itself here, or by an administrator' },
  maxTemporaryLockouts: { usual: 0, why: 'a lock ends by itself here, or by an administrator' },
  refreshTokenMaxReuse: { usual: 0, why: 'a refresh token that rotates can’t be used twice here' },
  verifyEmail: { usual: false, why: 'addresses are not verified at sign-in here yet' },
  loginWithEmailAllowed: { usual: true, why: 'people can always sign in by their address here' },
  duplicateEmailsAllowed: { usual: false, why: 'an address is one person’s here: import those who share one by hand' },
  registrationEmailAsUsername: { usual: false, why: NOT_HERE },
  resetPasswordAllowed: { usual: false, why: 'there is no page for forgotten passwords here yet' },
  editUsernameAllowed: { usual: false, why: 'people don’t change their usernames here' },
  offlineSessionMaxLifespanEnabled: { usual: false, why: NOT_HERE },
  ssoSessionIdleTimeoutRememberMe: { usual: 0, why: 'a remembered session has one lifetime here' },
  clientSessionIdleTimeout: { usual: 0, why: 'a client’s session is the person’s here' },
  clientSessionMaxLifespan: { usual: 0, why: 'a client’s session is the person’s here' },
  loginTheme: { usual: '', why: 'themes are logo, colours and CSS here (settings)' },
  accountTheme: { usual: '', why: 'themes are logo, colours and CSS here (settings)' },
  emailTheme: { usual: '', why: 'messages are templates here (message templates)' },
  adminPermissionsEnabled: { usual: false, why: 'administrators’ rights are admin roles here' },
  userManagedAccessAllowed: { usual: false, why: 'sharing by people isn’t there yet' },
  registrationFlow: { usual: 'registration', why: 'only sign-in is a flow here' },
  directGrantFlow: { usual: 'direct grant', why: 'there is no password grant here' },
  resetCredentialsFlow: { usual: 'reset credentials', why: 'only sign-in is a flow here' },
  clientAuthenticationFlow: { usual: 'clients', why: 'how a client authenticates is its own field here' },
  firstBrokerLoginFlow: { usual: 'first broker login', why: 'is said at each identity provider here' },
  otpPolicyType: { usual: 'totp', why: 'new one-time codes go by time here' },
  otpPolicyAlgorithm: {
    usual: 'HmacSHA1',
    why: 'new one-time codes are the usual ones here; those that people have keep theirs',
  },
  otpPolicyDigits: { usual: 6, why: 'new one-time codes are the usual ones here; those that people have keep theirs' },
  otpPolicyPeriod: { usual: 30, why: 'new one-time codes are the usual ones here; those that people have keep theirs' },
  eventsListeners: { usual: ['jboss-logging'], why: 'whoever wants events has a webhook here' },
  scopeMappings: {
    usual: [{ clientScope: 'offline_access', roles: ['offline_access'] }],
    why: 'tokens hold all of somebody’s roles here',
  },
  clientScopeMappings: {
    usual: { account: [{ client: 'account-console', roles: ['manage-account', 'view-groups'] }] },
    why: 'tokens hold all of somebody’s roles here',
  },
  federatedUsers: { usual: [], why: 'is data of people in a directory' },
};

const isUsual = (value: unknown, usual: unknown): boolean =>
  value === undefined || value === null || value === '' || JSON.stringify(value) === JSON.stringify(usual);

const positive = (value: unknown): value is number => typeof value === 'number' && value > 0;

/** @param exported all fields of the realm, by their names there */
export function settingsOf(exported: Exported, realm: Realm, notes: Notes): Record<string, unknown> {
  const key = realm.realm ?? '';
  const note = (field: string, why: string) => notes.add({ kind: 'realm', key, field }, why);
  const settings: Record<string, unknown> = {};
  for (const [field, ours] of Object.entries(same)) {
    const value = exported[field];
    if (value !== undefined && value !== null) settings[ours] = value;
  }
  const { displayName, revokeRefreshToken, passwordPolicy, browserFlow, requiredActions: _, ...rest } = exported;
  if (typeof displayName === 'string' && displayName.trim() !== '') settings.displayName = displayName.trim();
  if (typeof revokeRefreshToken === 'boolean') settings.reuseRefreshTokens = !revokeRefreshToken;
  if (typeof passwordPolicy === 'string') Object.assign(settings, passwordRules(passwordPolicy, note));
  if (typeof browserFlow === 'string' && browserFlow !== '') settings.browserFlow = browserFlow;
  const longest = [exported.ssoSessionMaxLifespanRememberMe, exported.ssoSessionMaxLifespan].find(positive);
  if (longest !== undefined) settings.rememberMeLifetimeSeconds = longest;
  Object.assign(settings, localesOf(exported));
  for (const [field, { usual, why }] of Object.entries(others)) if (!isUsual(rest[field], usual)) note(field, why);
  noteObjects(realm, note);
  return settings;
}

function localesOf({ internationalizationEnabled, supportedLocales, defaultLocale }: Exported) {
  if (internationalizationEnabled !== true || !Array.isArray(supportedLocales) || supportedLocales.length === 0)
    return {};
  const first = typeof defaultLocale === 'string' && defaultLocale !== '' ? defaultLocale : String(supportedLocales[0]);
  return { supportedLocales: [...new Set([...supportedLocales, first])], defaultLocale: first };
}

/** Attributes of a realm that every realm of Keycloak's has, or that say nothing here. */
const silent =
  /^(_browser_header|cibaBackchannel|cibaExpires|cibaInterval|cibaAuth|oauth2Device|realmReusableOtpCode|clientSession|clientOffline|actionToken|saml\.signature|parRequestUriLifespan|frontendUrl|acr\.loa\.map|bruteForceStrategy|maxSecondaryAuthFailures|organizationsEnabled|adminEventsExpiration|shortVerificationUri|darkMode|firstBrokerLoginFlowId|verifiableCredentialsEnabled|adminPermissionsEnabled|userProfileEnabled)/;

function noteObjects(realm: Realm, note: (field: string, why: string) => void): void {
  for (const [name, value] of Object.entries(realm.attributes ?? {}))
    if (!silent.test(name) && value !== '') note(`attributes.${name}`, NOT_HERE);
  const frontend = realm.attributes?.frontendUrl;
  if (frontend)
    note('attributes.frontendUrl', `tokens are issued by another address here: set issuer, if ${frontend} is to stay`);
  for (const { alias = '', enabled, defaultAction } of realm.requiredActions ?? [])
    if (enabled && defaultAction) note(`requiredActions.${alias}`, 'new people are asked nothing by default here');
  if ((realm.clientProfiles?.profiles ?? []).length > 0) note('clientProfiles', NOT_HERE);
  if ((realm.clientPolicies?.policies ?? []).length > 0) note('clientPolicies', NOT_HERE);
  for (const locale of Object.keys(realm.localizationTexts ?? {}))
    note(`localizationTexts.${locale}`, 'what pages say can’t be changed here');
  for (const [type, components] of Object.entries(realm.components ?? {})) {
    if (type.endsWith('.KeyProvider') && components.length > 0)
      note('components.keys', 'keys stay there: the realm signs with its own, and tokens of before are not valid here');
  }
}

/** The realm's mail server. */
export function smtpOf({ realm: key = '', smtpServer: smtp = {} }: Realm, notes: Notes): Record<string, unknown>[] {
  const { host = '', port = '', from = '', fromDisplayName = '', user = '', password = '' } = smtp;
  if (host === '') return [];
  const note = (field: string, why: string) => notes.add({ kind: 'realm', key, field: `smtpServer.${field}` }, why);
  const signsIn = smtp.auth === 'true';
  const tls = smtp.ssl === 'true' ? 'tls' : smtp.starttls === 'true' || signsIn ? 'starttls' : 'none';
  if (tls === 'starttls' && smtp.starttls !== 'true')
    note('starttls', 'the password is sent over an encrypted connection alone here: STARTTLS is asked for');
  const known = password !== '' && !isMasked(password) && signsIn;
  if (signsIn && !known) note('password', 'is not in the export: set it (messaging)');
  for (const field of ['envelopeFrom', 'replyToDisplayName', 'authTokenUrl']) if (smtp[field]) note(field, NOT_HERE);
  return [
    {
      channel: 'EMAIL',
      driver: 'smtp',
      enabled: true,
      fromAddress: from || null,
      fromName: fromDisplayName || null,
      config: {
        host,
        ...(Number(port) > 0 && { port: Number(port) }),
        ...(signsIn && user !== '' && { username: user }),
        ...(smtp.replyTo && { replyTo: smtp.replyTo }),
        tls,
      },
      ...(known && { secret: password }),
    },
  ];
}

const actions: Readonly<Record<string, string>> = {
  CONFIGURE_TOTP: 'CONFIGURE_OTP',
  TERMS_AND_CONDITIONS: 'TERMS',
  terms_and_conditions: 'TERMS',
  'webauthn-register': 'CONFIGURE_PASSKEY',
  'webauthn-register-passwordless': 'CONFIGURE_PASSKEY',
  CONFIGURE_RECOVERY_AUTHN_CODES: 'CONFIGURE_RECOVERY_CODES',
};
/** What somebody must do at their next sign-in; undefined: there is no such thing here. */
export const actionOf = (alias: string): RequiredAction | undefined =>
  RequiredAction.safeParse(actions[alias] ?? alias).data;
