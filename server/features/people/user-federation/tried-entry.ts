// Shows an entry of a directory as the user that it would be, for an administrator who tries the mapping out. Pure. It
// leaves out secrets and bytes, whatever they are mapped to.
import type { DirectoryTest } from '../../../contract/directory-syncs.ts';
import type { UserProfile } from '../../../contract/user-profile.ts';
import { visibleTo } from '../../../domain/user-profile.ts';
import type { DirectoryPerson } from '../users/from-directory.ts';
import type { Entry } from './connection.ts';
import type { Directory } from './store.ts';

const LONGEST = 200;
const MOST_VALUES = 10;
/** Attributes with passwords, their hashes and keys: `userPassword`, `unicodePwd`, `sambaNTPassword`, `krbPrincipalKey`, … */
const SECRET = /passw|pwd|secret|credential|hash|krb.*key|pkcs|otp|token|privatekey|recoverykey/i;

const cut = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

export function triedEntry(
  { users: { attributes: map } }: Pick<Directory, 'users'>,
  profile: UserProfile,
  { entry, person }: { entry: Entry; person: DirectoryPerson },
): DirectoryTest['entries'][number] {
  const isOmitted = (field: string): boolean => {
    const from = map[field] ?? '';
    return SECRET.test(from) || SECRET.test(field) || entry.holdsBytes(from);
  };
  const omitted = Object.keys(map).filter((field) => isOmitted(field) && entry.bytes(map[field] ?? '').length > 0);
  const shown = (field: string, value: string | null) => (value === null || isOmitted(field) ? null : cut(value));
  const attributes = Object.entries(visibleTo(profile, 'admin', person.attributes)).flatMap(
    ([name, values]): [string, string[]][] => (isOmitted(name) ? [] : [[name, values.slice(0, MOST_VALUES).map(cut)]]),
  );
  return {
    entry: entry.dn,
    username: shown('username', person.username),
    email: shown('email', person.email),
    firstName: shown('firstName', person.firstName),
    lastName: shown('lastName', person.lastName),
    enabled: person.enabled,
    attributes: Object.fromEntries(attributes),
    omitted: omitted.sort(),
  };
}
