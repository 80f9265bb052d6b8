// The groups of a realm's settings in a form. A setting in none of them comes last, below "More".
import type { Form } from './kind-shown.ts';

export const settingsForm: Form = {
  groups: [
    {
      title: 'General',
      fields: ['displayName', 'issuer', 'defaultLocale', 'supportedLocales', 'termsUrl', 'termsVersion', 'mostAppliedPlans'],
    },
    {
      title: 'Appearance',
      help: 'How the sign-in pages and mails look',
      fields: ['logoUrl', 'primaryColor', 'backgroundColor', 'welcomeText', 'customCss'],
    },
    {
      title: 'Signing in',
      help: 'The flow, second factors, and what happens after wrong passwords',
      fields: ['browserFlow', 'requireMfa', 'rememberMe', 'deviceRemembering', 'newDeviceNoticeEnabled', 'lockoutEnabled', 'maxLoginFailures', 'lockoutDurationSeconds'],
    },
    {
      title: 'Passwords',
      fields: [
        'passwordMinLength',
        'passwordRequireLowercase',
        'passwordRequireUppercase',
        'passwordRequireDigit',
        'passwordRequireSymbol',
        'passwordHistory',
        'passwordMaxAgeDays',
        'passwordBlocklist',
        'guessablePasswordCheck',
        'breachedPasswordCheck',
        'passwordRecoveryEnabled',
      ],
    },
    {
      title: 'Registration',
      help: 'Whether people make accounts themselves',
      fields: [
        'registrationEnabled',
        'registrationEmailAsUsername',
        'registrationVerifyEmail',
        'registrationPasskeyEnabled',
        'captchaProvider',
        'proofOfWorkBits',
      ],
    },
    {
      title: 'Sessions',
      fields: ['ssoSessionIdleTimeoutSeconds', 'ssoSessionMaxLifetimeSeconds', 'rememberMeLifetimeSeconds', 'maxConcurrentSessions'],
    },
    {
      title: 'Tokens',
      fields: [
        'accessTokenTtlSeconds',
        'refreshTokenTtlSeconds',
        'reuseRefreshTokens',
        'workloadTokenTtlSeconds',
        'subjectStrategy',
        'subjectAttribute',
        'resourceIndicators',
        'clientAssertionAudience',
        'requirePushedAuthorizationRequests',
      ],
    },
    {
      title: 'Risk',
      help: 'Points for what is unusual about a sign-in, and what happens from how many on',
      fields: [
        'riskPolicyEnabled',
        'riskMediumThreshold',
        'riskHighThreshold',
        'riskLowAction',
        'riskMediumAction',
        'riskHighAction',
        'riskWeights',
      ],
    },
    {
      title: 'Client registration',
      help: 'Which clients register themselves, and what they may ask for',
      fields: [
        'clientRegistration',
        'clientRegistrationGrantTypes',
        'clientRegistrationScopes',
        'clientRegistrationRedirectHosts',
        'clientRegistrationResources',
        'clientRegistrationConsent',
        'clientIdMetadataDocuments',
        'clientIdMetadataHosts',
        'mostRegisteredClients',
        'initialAccessTokenTtlSeconds',
      ],
    },
    {
      title: 'Limits of messages',
      fields: ['maxMessagesPerRecipientPerHour', 'maxMessagesPerAddressPerHour', 'maxSmsPerHour', 'maxEmailsPerHour'],
    },
  ],
  fields: {
    browserFlow: { label: 'Flow' },
    requireMfa: { label: 'Everybody needs a second factor' },
    reuseRefreshTokens: { label: 'Refresh tokens stay the same' },
    captchaProvider: { label: 'Captcha' },
    mostAppliedPlans: { label: 'Applied plans that are kept' },
    passwordMaxAgeDays: { label: 'Longest age of a password in days' },
    breachedPasswordCheck: { label: 'Refuse passwords known from breaches' },
    guessablePasswordCheck: { label: 'Refuse passwords that are easy to guess' },
  },
};
