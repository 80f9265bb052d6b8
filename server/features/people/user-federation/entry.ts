// Reads a user from a directory's entry, pure. It knows how Active Directory, 389 and OpenLDAP mark an account as disabled.
// Decisions "User federation".
import { asciiEmail, isEmail } from '../../../contract/email.ts';
import { Username } from '../../../contract/users.ts';
import { dnKey } from '../../../domain/distinguished-name.ts';
import type { DirectoryPerson } from '../users/from-directory.ts';
import { type Entry, isBinary } from './connection.ts';
import type { Directory } from './store.ts';

const NAMES = ['username', 'email', 'firstName', 'lastName'] as const;
const LONGEST_NAME = 255;
const LONGEST_VALUE = 4096;
const MOST_VALUES = 100;

/** The attribute with the time of an entry's last change. */
export const changedAttribute = ({ users }: Pick<Directory, 'users'>): string =>
  isBinary(users.uuidAttribute) ? 'whenChanged' : 'modifyTimestamp';

/**
 * How accounts are disabled: Active Directory's bits, the flag of 389 and FreeIPA, and the time since when OpenLDAP locks
 * an account.
 */
const ACCOUNT_CONTROL = 'userAccountControl';
const ACCOUNT_DISABLED = 2;
const LOCKED = 'nsAccountLock';
const LOCKED_TIME = 'pwdAccountLockedTime';
/**
 * This time means that an administrator locked the account. Any other time follows wrong passwords, and that lock ends by
 * itself.
 */
const LOCKED_FOR_GOOD = /^000001010000(00)?Z$/;
/** When the password was changed: by OpenLDAP's password policy, and by Active Directory. */
const PASSWORD_CHANGED = ['pwdChangedTime', 'pwdLastSet'];

export const personAttributes = (directory: Directory): string[] => [
  ...new Set([
    ...Object.values(directory.users.attributes),
    directory.users.uuidAttribute,
    changedAttribute(directory),
    ACCOUNT_CONTROL,
    LOCKED,
    LOCKED_TIME,
    ...PASSWORD_CHANGED,
  ]),
];

/** The attributes of the realm's users that the directory writes. */
export const writtenAttributes = ({ users }: Pick<Directory, 'users'>): string[] =>
  Object.keys(users.attributes).filter((name) => !NAMES.some((one) => one === name));

/** undefined: the entry has no stable id, or it is too long or no text. */
export function stableId({ users }: Pick<Directory, 'users'>, entry: Entry): string | undefined {
  const [bytes] = entry.bytes(users.uuidAttribute);
  const id = isBinary(users.uuidAttribute) ? bytes?.toString('hex') : bytes?.toString();
  return id === undefined || id === '' || id.length > LONGEST_NAME || id.includes('\0') ? undefined : id;
}

const isDisabled = (entry: Entry): boolean =>
  (Number(entry.values(ACCOUNT_CONTROL)[0] ?? 0) & ACCOUNT_DISABLED) !== 0 ||
  entry.values(LOCKED)[0]?.trim().toLowerCase() === 'true' ||
  entry.values(LOCKED_TIME).some((time) => LOCKED_FOR_GOOD.test(time.trim()));

/** Bytes that are no UTF-8 were decoded to U+FFFD. */
const NO_TEXT = /[\0\uFFFD]/;
const faultOfText = (value: string, longest: number): string | undefined =>
  NO_TEXT.test(value) ? 'is no text' : value.length > longest ? `is longer than ${longest} characters` : undefined;

const faultOfValue: Record<(typeof NAMES)[number], (value: string) => string | undefined> = {
  username: (value) => {
    const { success, error } = Username.safeParse(value);
    return NO_TEXT.test(value) ? 'is no text' : success ? undefined : (error.issues[0]?.message ?? 'is no username');
  },
  email: (value) => (isEmail(value) ? undefined : 'is no e-mail address'),
  firstName: (value) => faultOfText(value, LONGEST_NAME),
  lastName: (value) => faultOfText(value, LONGEST_NAME),
};

const faultOfList = (values: readonly string[]): string | undefined =>
  values.length > MOST_VALUES
    ? `has more than ${MOST_VALUES} values`
    : values.flatMap((value) => faultOfText(value, LONGEST_VALUE) ?? [])[0];

export type ReadPerson = { person: DirectoryPerson; fault?: never } | { person?: never; fault: string };

/**
 * Reads a user from an entry. Each field is judged alone, and an invalid field is left out. An entry without a stable id is
 * no user.
 */
export function personOf(directory: Directory, entry: Entry): ReadPerson {
  const { attributes: map, uuidAttribute } = directory.users;
  const external = stableId(directory, entry);
  if (external === undefined) return { fault: `has no ${uuidAttribute} that can be its stable id` };
  const faults: DirectoryPerson['faults'] = [];
  const fault = (field: string, attribute: string, message: string) =>
    faults.push({ field, message: field === attribute ? message : `${attribute} ${message}` });
  const valuesOf = (name: string): string[] =>
    Object.hasOwn(map, name)
      ? entry
          .values(map[name] ?? '')
          .map((value) => value.trim())
          .filter(Boolean)
      : [];
  /** The first valid value. */
  const first = (name: (typeof NAMES)[number]): string | null => {
    const values = valuesOf(name);
    const good = values.find((value) => faultOfValue[name](value) === undefined);
    const [bad] = values;
    if (good === undefined && bad !== undefined) fault(name, map[name] ?? name, faultOfValue[name](bad) ?? '');
    return good ?? null;
  };
  const email = first('email');
  const username = first('username');
  const [raw] = valuesOf('username');
  if (raw === undefined) fault('username', map.username ?? 'username', 'is missing');
  const login = (username ?? raw ?? '').toLowerCase();
  const attributes = Object.fromEntries(
    writtenAttributes(directory).flatMap((name) => {
      const values = entry.texts(map[name] ?? '').filter((value) => value !== '');
      const message = faultOfList(values);
      if (message !== undefined) fault(`attributes.${name}`, map[name] ?? name, message);
      return values.length > 0 && message === undefined ? [[name, values]] : [];
    }),
  );
  return {
    person: {
      external,
      dn: entry.dn,
      dnKey: dnKey(entry.dn),
      username,
      login: faultOfText(login, LONGEST_NAME) === undefined ? login : '',
      email: email === null ? null : asciiEmail(email),
      firstName: first('firstName'),
      lastName: first('lastName'),
      attributes,
      enabled: !isDisabled(entry),
      passwordChanged: PASSWORD_CHANGED.flatMap((name) => entry.values(name))[0]?.replaceAll('\0', '') ?? null,
      faults,
    },
  };
}
