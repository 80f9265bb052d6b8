// What an entry of a directory says of a person: pure. Active Directory's and 389's ways of saying that somebody is locked out
// are known here, too. Decisions "User federation".
import { Email, Username } from '../../contract/users.ts';
import type { DirectoryPerson } from '../users/from-directory.ts';
import { type Entry, isBinary } from './connection.ts';
import { dnKey } from './dn.ts';
import type { Directory } from './store.ts';

const NAMES = ['username', 'email', 'firstName', 'lastName'] as const;
const LONGEST_NAME = 255;
const LONGEST_VALUE = 4096;
const MOST_VALUES = 100;

/** When an entry was last changed, as the directory writes it. */
export const changedAttribute = ({ users }: Pick<Directory, 'users'>): string =>
  isBinary(users.uuidAttribute) ? 'whenChanged' : 'modifyTimestamp';

const ACCOUNT_CONTROL = 'userAccountControl';
const ACCOUNT_DISABLED = 2;
const LOCKED = 'nsAccountLock';
/** When the password was changed: of OpenLDAP's password policy, and of Active Directory. */
const PASSWORD_CHANGED = ['pwdChangedTime', 'pwdLastSet'];

export const personAttributes = (directory: Directory): string[] => [
  ...new Set([
    ...Object.values(directory.users.attributes),
    directory.users.uuidAttribute,
    changedAttribute(directory),
    ACCOUNT_CONTROL,
    LOCKED,
    ...PASSWORD_CHANGED,
  ]),
];

/** Of the realm's people, those attributes that the directory writes. */
export const writtenAttributes = ({ users }: Pick<Directory, 'users'>): string[] =>
  Object.keys(users.attributes).filter((name) => !NAMES.some((one) => one === name));

export const stableId = ({ users }: Pick<Directory, 'users'>, entry: Entry): string | undefined => {
  const [id] = entry.bytes(users.uuidAttribute);
  if (!id || id.length === 0) return undefined;
  return isBinary(users.uuidAttribute) ? id.toString('hex') : id.toString();
};

const isDisabled = (entry: Entry): boolean =>
  (Number(entry.values(ACCOUNT_CONTROL)[0] ?? 0) & ACCOUNT_DISABLED) !== 0 ||
  entry.values(LOCKED)[0]?.toLowerCase() === 'true';

export type ReadPerson = { person: DirectoryPerson; fault?: never } | { person?: never; fault: string };

/** Whom an entry is of, or why nobody can be made of it. */
export function personOf(directory: Directory, entry: Entry): ReadPerson {
  const { attributes: map, uuidAttribute } = directory.users;
  const external = stableId(directory, entry);
  if (external === undefined || external.length > LONGEST_NAME) return { fault: `has no ${uuidAttribute}` };
  const first = (name: (typeof NAMES)[number]): string | null => {
    const attribute = map[name];
    const value = attribute === undefined ? undefined : entry.values(attribute)[0]?.trim();
    return value === undefined || value === '' ? null : value;
  };
  const username = Username.safeParse(first('username') ?? '');
  if (!username.success) return { fault: `${map.username}: ${username.error.issues[0]?.message ?? 'is no username'}` };
  const email = first('email');
  if (email !== null && !Email.safeParse(email).success) return { fault: `${map.email}: is no e-mail address` };
  const [firstName, lastName] = [first('firstName'), first('lastName')];
  const attributes = Object.fromEntries(
    writtenAttributes(directory).flatMap((name) => {
      const values = entry.values(map[name] ?? '').filter((value) => value !== '');
      return values.length > 0 ? [[name, values]] : [];
    }),
  );
  const lists = Object.values(attributes);
  const isLong = [firstName, lastName].some((value) => (value?.length ?? 0) > LONGEST_NAME);
  if (isLong || lists.some((of) => of.length > MOST_VALUES || of.some((value) => value.length > LONGEST_VALUE)))
    return { fault: 'has a value that is too long, or too many of them' };
  if ([email, firstName, lastName, ...lists.flat()].some((value) => value?.includes('\0')))
    return { fault: 'has a value that is no text' };
  return {
    person: {
      external,
      dn: entry.dn,
      dnKey: dnKey(entry.dn),
      username: username.data,
      email,
      firstName,
      lastName,
      attributes,
      enabled: !isDisabled(entry),
      passwordChanged: PASSWORD_CHANGED.flatMap((name) => entry.values(name))[0] ?? null,
    },
  };
}
