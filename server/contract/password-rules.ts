// What a new password must be, pure. Whether a password is right is features/people/credentials'. Specification 2.3, 8.
import { guessableFaults, type PasswordOwner } from './guessable-passwords.ts';
import type { Settings } from './settings.ts';

/** What a realm asks of passwords. */
export type PasswordRules = Pick<
  Settings,
  | 'passwordMinLength'
  | 'passwordRequireLowercase'
  | 'passwordRequireUppercase'
  | 'passwordRequireDigit'
  | 'passwordRequireSymbol'
  | 'passwordBlocklist'
  | 'guessablePasswordCheck'
>;

export const passwordClasses = [
  { required: 'passwordRequireLowercase', pattern: /\p{Ll}/u, what: 'a lower-case letter' },
  { required: 'passwordRequireUppercase', pattern: /\p{Lu}/u, what: 'an upper-case letter' },
  { required: 'passwordRequireDigit', pattern: /\p{Nd}/u, what: 'a digit' },
  { required: 'passwordRequireSymbol', pattern: /[^\p{L}\p{N}\s]/u, what: 'a sign that is neither letter nor digit' },
] as const;

/** The rules that a password breaks, as sentences; none: it may be taken. */
export function passwordFaults(password: string, rules: PasswordRules, owner: PasswordOwner): string[] {
  const { username, email } = owner;
  const folded = password.toLowerCase();
  const same = (name: string | null) => name !== null && folded === name.toLowerCase();
  const least = rules.passwordMinLength;
  const isName = same(username) || same(email) || same(email?.split('@')[0] ?? null);
  const isBlank = password.trim() === '';
  return [
    ...([...password].length < least ? [`must have at least ${least} characters`] : []),
    ...passwordClasses.flatMap(({ required, pattern, what }) =>
      rules[required] && !pattern.test(password) ? [`must have ${what}`] : [],
    ),
    ...(same(username) ? ['must not be the username'] : []),
    ...(same(email) || same(email?.split('@')[0] ?? null) ? ['must not be the e-mail address'] : []),
    ...(isBlank ? ['must not be blank'] : []),
    ...(rules.passwordBlocklist.some((word) => folded.includes(word.toLowerCase()))
      ? ['must not contain a word that is not allowed here']
      : []),
    ...(rules.guessablePasswordCheck && !isName && !isBlank ? guessableFaults(password, owner) : []),
  ];
}
