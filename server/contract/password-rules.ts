// The rules for a new password. Pure. features/people/credentials checks passwords at sign-in. Specification 2.3, 8.
import { guessableFaults, type PasswordOwner } from './guessable-passwords.ts';
import { passwordForm } from './password-form.ts';
import { type Phrase, phrase } from './phrases.ts';
import type { Settings } from './settings.ts';

/** The realm's settings about passwords. */
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
  { required: 'passwordRequireLowercase', pattern: /\p{Ll}/u, fault: phrase('lower') },
  { required: 'passwordRequireUppercase', pattern: /\p{Lu}/u, fault: phrase('upper') },
  { required: 'passwordRequireDigit', pattern: /\p{Nd}/u, fault: phrase('digit') },
  { required: 'passwordRequireSymbol', pattern: /[^\p{L}\p{N}\s]/u, fault: phrase('symbol') },
] as const;

/** The rules that a password breaks; none: the realm accepts it. */
export function passwordFaults(typed: string, rules: PasswordRules, owner: PasswordOwner): Phrase[] {
  const { username, email } = owner;
  const password = passwordForm(typed);
  const folded = password.toLowerCase();
  const same = (name: string | null) => name !== null && folded === passwordForm(name).toLowerCase();
  const least = rules.passwordMinLength;
  const isName = same(username) || same(email) || same(email?.split('@')[0] ?? null);
  // nothing else needs to be said of a field that was left empty, nor is it the name that was left empty too
  if (password.trim() === '') return [phrase('notBlank')];
  return [
    ...([...password].length < least ? [phrase('leastLong', { least })] : []),
    ...passwordClasses.flatMap(({ required, pattern, fault }) =>
      rules[required] && !pattern.test(password) ? [fault] : [],
    ),
    ...(same(username) ? [phrase('notName')] : []),
    ...(same(email) || same(email?.split('@')[0] ?? null) ? [phrase('notEmail')] : []),
    ...(rules.passwordBlocklist.some((word) => folded.includes(passwordForm(word).toLowerCase()))
      ? [phrase('notListed')]
      : []),
    ...(rules.guessablePasswordCheck && !isName ? guessableFaults(password, owner) : []),
  ];
}
