// Translates a realm's settings and mail server, and reports those that have no counterpart. docs/keycloak.md has the
// table.
import { RequiredAction } from '../../../../contract/required-actions.ts';
import { isMasked, type Realm, unquoted } from './export-shape.ts';
import type { Notes } from './notes.ts';
import { passwordRules } from './password-policy.ts';
import { NOT_HERE, tellFields } from './realm-fields.ts';

export type Exported = Readonly<Record<string, unknown>>;

/** Settings with the same meaning: Keycloak's name → this server's. */
const same: Readonly<Record<string, string>> = {
  accessTokenLifespan: 'accessTokenTtlSeconds',
  ssoSessionIdleTimeout: 'ssoSessionIdleTimeoutSeconds',
  ssoSessionMaxLifespan: 'ssoSessionMaxLifetimeSeconds',
  offlineSessionIdleTimeout: 'refreshTokenTtlSeconds',
  rememberMe: 'rememberMe',
  registrationAllowed: 'registrationEnabled',
  registrationEmailAsUsername: 'registrationEmailAsUsername',
  verifyEmail: 'registrationVerifyEmail',
  resetPasswordAllowed: 'passwordRecoveryEnabled',
  bruteForceProtected: 'lockoutEnabled',
  failureFactor: 'maxLoginFailures',
  maxFailureWaitSeconds: 'lockoutDurationSeconds',
};

const positive = (value: unknown): value is number => typeof value === 'number' && value > 0;

/** @param exported all fields of the realm, by Keycloak's names */
export function settingsOf(exported: Exported, realm: Realm, notes: Notes): Record<string, unknown> {
  const key = realm.realm ?? '';
  const note = (field: string, why: string) => notes.add({ kind: 'realm', key, field }, why);
  const settings: Record<string, unknown> = {};
  for (const [field, ours] of Object.entries(same)) {
    const value = unquoted(exported[field]);
    if (value !== undefined && value !== null) settings[ours] = value;
  }
  const { displayName, passwordPolicy, browserFlow } = exported;
  const [revokeRefreshToken, verifyEmail] = [exported.revokeRefreshToken, exported.verifyEmail].map(unquoted);
  if (typeof displayName === 'string' && displayName.trim() !== '') settings.displayName = displayName.trim();
  if (typeof revokeRefreshToken === 'boolean') settings.reuseRefreshTokens = !revokeRefreshToken;
  if (typeof passwordPolicy === 'string') Object.assign(settings, passwordRules(passwordPolicy, note));
  if (typeof browserFlow === 'string' && browserFlow !== '') settings.browserFlow = browserFlow;
  const longest = [exported.ssoSessionMaxLifespanRememberMe, exported.ssoSessionMaxLifespan].find(positive);
  if (longest !== undefined) settings.rememberMeLifetimeSeconds = longest;
  Object.assign(settings, localesOf(exported));
  if (verifyEmail === true)
    note('verifyEmail', 'asked of users who register; existing users need the required action VERIFY_EMAIL');
  tellFields(exported, (field) => Object.hasOwn(same, field), note);
  noteObjects(realm, note);
  return settings;
}

function localesOf({ internationalizationEnabled, supportedLocales, defaultLocale }: Exported) {
  if (
    unquoted(internationalizationEnabled) !== true ||
    !Array.isArray(supportedLocales) ||
    supportedLocales.length === 0
  )
    return {};
  const first = typeof defaultLocale === 'string' && defaultLocale !== '' ? defaultLocale : String(supportedLocales[0]);
  return { supportedLocales: [...new Set([...supportedLocales, first])], defaultLocale: first };
}

/** Attributes with Keycloak's initial values, and attributes that are reported by their realm field. */
const usualAttributes: Readonly<Record<string, string>> = {
  cibaBackchannelTokenDeliveryMode: 'poll',
  cibaAuthRequestedUserHint: 'login_hint',
  cibaExpiresIn: '120',
  cibaInterval: '5',
  parRequestUriLifespan: '60',
  realmReusableOtpCode: 'false',
  scimApiEnabled: 'false',
  verifiableCredentialsEnabled: 'false',
};
const byField =
  /^(oauth2Device|clientSession|clientOffline|actionTokenGenerated\w+$|frontendUrl|acr\.loa\.map|_browser_header|bruteForceStrategy|maxSecondaryAuthFailures|maxTemporaryLockouts|organizationsEnabled|adminPermissionsEnabled|userProfileEnabled|firstBrokerLoginFlowId|darkMode|saml\.signature|webAuthn|default)/;

function noteObjects(realm: Realm, note: (field: string, why: string) => void): void {
  for (const [name, value] of Object.entries(realm.attributes ?? {}))
    if (!byField.test(name) && value !== '' && value !== usualAttributes[name]) note(`attributes.${name}`, NOT_HERE);
  if (!/^(\{\})?$/.test(realm.attributes?.['acr.loa.map'] ?? ''))
    note('attributes.acr.loa.map', 'levels of assurance are numbers here (acr_values)');
  const frontend = realm.attributes?.frontendUrl;
  if (frontend)
    note('attributes.frontendUrl', `tokens are issued by another address here: set issuer, if ${frontend} is to stay`);
  for (const { alias = '', enabled, defaultAction } of realm.requiredActions ?? [])
    if (enabled && defaultAction) note(`requiredActions.${alias}`, 'new people are asked nothing by default here');
  if ((realm.clientProfiles?.profiles ?? []).length > 0) note('clientProfiles', NOT_HERE);
  if ((realm.clientPolicies?.policies ?? []).length > 0) note('clientPolicies', NOT_HERE);
  for (const locale of Object.keys(realm.localizationTexts ?? {}))
    note(`localizationTexts.${locale}`, 'texts have other keys here: write those that differ into messageTexts');
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
/** The required action with this alias; undefined: this server has no such action. */
export const actionOf = (alias: string): RequiredAction | undefined =>
  RequiredAction.safeParse(actions[alias] ?? alias).data;
