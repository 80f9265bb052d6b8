// A realm's fields without a counterpart here, with the values that Keycloak gives every realm: other values are reported. A
// field that is neither here nor read anywhere is always reported. Pure; docs/keycloak.md has the table.
import type { Exported } from './settings.ts';

export const NOT_HERE = 'has no counterpart here';
const ONE_SESSION = 'a client’s session is the person’s here';
const ROLES = 'tokens hold all roles of the user here';
const LOCK = 'a lock has one length here';
const SERVERS = 'is the server’s own here';
const CODES = 'new one-time codes have the standard form here; existing ones keep theirs';
const THEMES = 'themes are logo, colours and CSS here (settings)';
const SIGN_IN_ALONE = 'only sign-in is a flow here';

type Unusual = Readonly<Record<string, { usual: unknown; why: string }>>;
const all = (usual: Readonly<Record<string, unknown>>, why: string): Unusual =>
  Object.fromEntries(Object.entries(usual).map(([field, value]) => [field, { usual: value, why }]));

const told: Unusual = {
  ...all({ displayNameHtml: '', notBefore: 0, offlineSessionMaxLifespanEnabled: false }, NOT_HERE),
  ...all({ verifiableCredentialsEnabled: false }, NOT_HERE),
  ...all({ scimApiEnabled: false }, 'provisioning clients get tokens of their own here (SCIM)'),
  ...all({ enabled: true }, 'a realm can’t be disabled here'),
  ...all({ defaultSignatureAlgorithm: 'RS256' }, 'is said at each client here'),
  ...all({ permanentLockout: false, maxTemporaryLockouts: 0 }, 'a lock ends by itself here, or by an administrator'),
  ...all({ bruteForceStrategy: 'MULTIPLE', waitIncrementSeconds: 60, minimumQuickLoginWaitSeconds: 60 }, LOCK),
  ...all({ quickLoginCheckMilliSeconds: 1000, maxDeltaTimeSeconds: 43_200, maxSecondaryAuthFailures: 0 }, LOCK),
  ...all({ refreshTokenMaxReuse: 0 }, 'a refresh token that rotates can’t be used twice here'),
  ...all({ loginWithEmailAllowed: true }, 'people can always sign in by their address here'),
  ...all({ duplicateEmailsAllowed: false }, 'an address is one person’s here: import those who share one by hand'),
  ...all({ editUsernameAllowed: false }, 'people don’t change their usernames here'),
  ...all({ ssoSessionIdleTimeoutRememberMe: 0 }, 'a remembered session has one lifetime here'),
  ...all({ clientSessionIdleTimeout: 0, clientSessionMaxLifespan: 0 }, ONE_SESSION),
  ...all({ clientOfflineSessionIdleTimeout: 0, clientOfflineSessionMaxLifespan: 0 }, ONE_SESSION),
  ...all({ accessCodeLifespan: 60, accessCodeLifespanUserAction: 300, accessCodeLifespanLogin: 1800 }, SERVERS),
  ...all({ actionTokenGeneratedByAdminLifespan: 43_200, actionTokenGeneratedByUserLifespan: 300 }, SERVERS),
  ...all({ oauth2DeviceCodeLifespan: 600, oauth2DevicePollingInterval: 5 }, SERVERS),
  ...all({ sslRequired: 'external' }, 'what is encrypted is the deployment’s to say here'),
  ...all({ loginTheme: '', accountTheme: '' }, THEMES),
  ...all({ adminTheme: '' }, 'there is no other theme for administrators here'),
  ...all({ emailTheme: '' }, 'messages are templates here (message templates)'),
  ...all({ adminPermissionsEnabled: false }, 'administrators’ rights are admin roles here'),
  ...all({ registrationFlow: 'registration', resetCredentialsFlow: 'reset credentials' }, SIGN_IN_ALONE),
  ...all({ dockerAuthenticationFlow: 'docker auth' }, SIGN_IN_ALONE),
  ...all({ directGrantFlow: 'direct grant' }, 'there is no password grant here'),
  ...all({ clientAuthenticationFlow: 'clients' }, 'how a client authenticates is its own field here'),
  ...all({ firstBrokerLoginFlow: 'first broker login' }, 'is said at each identity provider here'),
  ...all({ otpPolicyType: 'totp' }, 'new one-time codes go by time here'),
  ...all({ otpPolicyAlgorithm: 'HmacSHA1', otpPolicyDigits: 6, otpPolicyPeriod: 30 }, CODES),
  ...all({ otpPolicyCodeReusable: false }, 'a code counts once here'),
  ...all({ eventsListeners: ['jboss-logging'] }, 'events are received by a webhook here'),
  ...all({ eventsExpiration: 0 }, 'how long events are kept is the server’s to say here'),
  ...all({ scopeMappings: [{ clientScope: 'offline_access', roles: ['offline_access'] }] }, ROLES),
  ...all(
    { clientScopeMappings: { account: [{ client: 'account-console', roles: ['manage-account', 'view-groups'] }] } },
    ROLES,
  ),
  ...all(
    {
      defaultDefaultClientScopes: [
        ...['role_list', 'saml_organization', 'AuthnContextClassRef', 'profile', 'email', 'roles'],
        ...['web-origins', 'acr', 'basic'],
      ],
      defaultOptionalClientScopes: ['offline_access', 'address', 'phone', 'microprofile-jwt', 'organization'],
    },
    'a new client says its scopes itself here',
  ),
  ...all(
    {
      browserSecurityHeaders: {
        contentSecurityPolicyReportOnly: '',
        xContentTypeOptions: 'nosniff',
        referrerPolicy: 'no-referrer',
        xRobotsTag: 'none',
        xFrameOptions: 'SAMEORIGIN',
        contentSecurityPolicy: "frame-src 'self'; frame-ancestors 'self'; object-src 'none';",
        strictTransportSecurity: 'max-age=31536000; includeSubDomains',
      },
    },
    SERVERS,
  ),
  ...all({ federatedUsers: [] }, 'is data of people in a directory'),
};

/**
 * Fields that are read elsewhere or have no effect: Keycloak's internal names, and settings that this server always
 * implies.
 */
const unsaid =
  /^(id|realm|keycloakVersion|displayName|roles|groups|defaultRole|defaultRoles|defaultGroups|requiredCredentials|clients|clientScopes|users|attributes|smtpServer|components|identityProviders|identityProviderMappers|organizations|organizationsEnabled|authenticationFlows|authenticatorConfig|requiredActions|browserFlow|passwordPolicy|revokeRefreshToken|internationalizationEnabled|supportedLocales|defaultLocale|localizationTexts|clientProfiles|clientPolicies|userManagedAccessAllowed|accessTokenLifespanForImplicitFlow|offlineSessionMaxLifespan|ssoSessionMaxLifespanRememberMe|otpPolicyInitialCounter|otpPolicyLookAheadWindow|otpSupportedApplications|eventsEnabled|enabledEventTypes|adminEventsEnabled|adminEventsDetailsEnabled|webAuthnPolicy\w*)$/;

/** Whether Keycloak's realms have this field. */
export const isField = (field: string): boolean => Object.hasOwn(told, field) || unsaid.test(field);

/** Whether the value sets nothing. An otpPolicy of counters has no period and no digits. */
const nothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === 0 ||
  (Object.keys(Object(value)).length === 0 && typeof value === 'object');

/** The value in one fixed order, for comparison. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => JSON.stringify(sorted(one))).sort();
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, one]) => [key, sorted(one)] as const)
      .sort(),
  );
}
const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));

/** @param read whether a field is carried over */
export function tellFields(
  exported: Exported,
  read: (field: string) => boolean,
  note: (field: string, why: string) => void,
): void {
  for (const [field, value] of Object.entries(exported)) {
    if (read(field) || unsaid.test(field) || nothing(value)) continue;
    const known = told[field];
    if (!known || !isSame(value, known.usual)) note(field, known?.why ?? NOT_HERE);
  }
  passkeys(exported, note);
}

/** The settings of passkeys, which users have to register again. */
function passkeys(exported: Exported, note: (field: string, why: string) => void): void {
  for (const [field, value] of Object.entries(exported))
    if (
      /^webAuthnPolicy(Passwordless)?(RpId|AttestationConveyancePreference|AuthenticatorAttachment|AcceptableAaguids|ExtraOrigins)$/.test(
        field,
      ) &&
      !nothing(value) &&
      value !== 'not specified'
    )
      note(field, 'passkeys are made for this server’s host, of any kind');
}
