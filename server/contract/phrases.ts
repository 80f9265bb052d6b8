// Owns: the phrases that an API answers in English and a page says in its reader's language: an identifier that never changes, and
// named parameters.
// Does not own: the translations. They are the texts `said.<identifier>` of http/languages; http/texts.ts chooses one.
// The English here is what programs read, and what the text of the page says as well (test/server/http/texts.unit.test.ts).

export const phrases = {
  // names of the methods for signing in
  usernamePassword: 'Username and password',
  password: 'Password',
  passkey: 'Passkey',
  otp: 'One-time code (TOTP)',
  app: 'Authenticator app',
  emailCode: 'Code by e-mail',
  smsCode: 'Code by SMS',
  magicLink: 'Link by e-mail',
  push: 'Approval on a device',
  device: 'Device',
  qr: 'QR code',
  recoveryCode: 'Recovery code',
  recoveryCodes: 'Recovery codes',
  userCode: 'Code for questions on your devices',
  identityProvider: 'Identity provider',

  // the meaning of the built-in client scopes
  scopeOpenid: 'Sign you in',
  scopeProfile: 'Your name and other profile details',
  scopeEmail: 'Your e-mail address',
  scopeAddress: 'Your postal address',
  scopePhone: 'Your phone number',
  scopeRoles: 'Your roles',
  scopeGroups: 'Your groups',
  scopeOrganization: 'Your organizations',
  scopeAccount: 'Manage your account',
  scopeUmaProtection: 'Register what is yours, so that you decide who may use it',
  scopeOffline: 'Access while you are signed out',

  // faults of a field: words that follow its name
  required: 'is required',
  fixed: 'can’t be changed here',
  tooLong: 'is too long',
  taken: 'can’t be used: it is taken',
  one: 'must have one value',
  number: 'must be a number',
  boolean: 'must be true or false',
  date: 'must be a date such as 2026-12-31',
  email: 'must be an e-mail address',
  url: 'must be an http or https address',
  phone: 'must be a number with its country, such as +49 170 1234567',
  leastLong: 'must have at least {least} characters',
  mostLong: 'must have at most {most} characters',
  oneOf: 'must be one of {options}',
  least: 'must be at least {least}',
  most: 'must be at most {most}',
  form: 'does not have the required form',

  // faults of a new password
  lower: 'must have a lower-case letter',
  upper: 'must have an upper-case letter',
  digit: 'must have a digit',
  symbol: 'must have a sign that is neither letter nor digit',
  notName: 'must not be the username',
  notEmail: 'must not be the e-mail address',
  notBlank: 'must not be blank',
  notListed: 'must not contain a word that is not allowed here',
  notRow: 'must not be mostly repeated signs or rows such as abcd, 1234 or qwerty',
  notOwnName: 'must not be made of the user’s own name or address',
  notCommon: 'must not be a common password, nor one with a few signs added',
  notOld: 'must not be the old one',
  notLast: 'must not be one of the last {most}',
  notBreached: 'must not be a password that is known from a data breach',
  inDirectory: 'is kept by the directory {directory}: change it there',

  // why a request is refused
  nothingHere: 'There is nothing at this address',
  noRealm: 'There is no such realm here.',
  noProvider: 'There is no such identity provider here.',
  noAgent: 'You have no such agent',
  noResource: 'You have no such resource',
  noShare: 'You have no such share',
  sharesNothing: 'You share no resource with this id',
  unreadable: 'The form could not be read.',
  tooManySignIns: 'Too many sign-ins were begun from here. Try again shortly.',
  tooManyCodes: 'Too many codes were tried',
} as const;

export type PhraseCode = keyof typeof phrases;
type Parameter<Words extends string> = Words extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Parameter<Rest>
  : never;
type Parameters<Code extends PhraseCode> = [Parameter<(typeof phrases)[Code]>] extends [never]
  ? []
  : [values: Record<Parameter<(typeof phrases)[Code]>, string | number>];

/** A phrase with its parameters filled in, in no language yet. */
export interface Phrase {
  readonly code: PhraseCode;
  readonly values: Readonly<Record<string, string | number>>;
}
/** Texts that exist only in English are strings: pages show them unchanged. */
export type Words = string | Phrase;

const NO_VALUES = {};
export const phrase = <Code extends PhraseCode>(code: Code, ...[values]: Parameters<Code>): Phrase => ({
  code,
  values: values ?? NO_VALUES,
});

/** The English text, for API responses and logs. */
export const inEnglish = (words: Words): string =>
  typeof words === 'string'
    ? words
    : phrases[words.code].replace(/\{(\w+)\}/g, (_, name: string) => String(words.values[name]));

/** The phrase of each client scope that a new realm has: while its description is this one, pages translate it. */
export const scopePhrases: ReadonlyMap<string, PhraseCode> = new Map([
  ['openid', 'scopeOpenid'],
  ['profile', 'scopeProfile'],
  ['email', 'scopeEmail'],
  ['address', 'scopeAddress'],
  ['phone', 'scopePhone'],
  ['roles', 'scopeRoles'],
  ['groups', 'scopeGroups'],
  ['organization', 'scopeOrganization'],
  ['account', 'scopeAccount'],
  ['uma_protection', 'scopeUmaProtection'],
  ['offline_access', 'scopeOffline'],
]);
