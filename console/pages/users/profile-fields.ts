// The fields of a user as the realm's user profile declares them, for forms; and a form's edits as the body of a request.
import type { ProfileAttribute as Attribute, UserProfile } from '../../../server/contract/user-profile.ts';
import type { User } from '../../../server/contract/users.ts';
import type { Row } from '../../kinds/entry.ts';
import type { Field, FieldType } from '../../kinds/fields.ts';

export type Profile = Pick<UserProfile, 'attributes' | 'unmanagedAttributes'>;

export interface UserField extends Field {
  /** The reader sees it, and can't change it. */
  isReadOnly: boolean;
}

/** The attributes without a field of their own, as one map. */
export const OTHERS = 'attributes';
const nameOf = (attribute: string): string => `attributes.${attribute}`;

const LONG = 500;
const ownFields = ['username', 'email', 'firstName', 'lastName'] as const;
const isOwn = (name: string): name is (typeof ownFields)[number] => (ownFields as readonly string[]).includes(name);
const ownLabels = {
  username: 'Username',
  email: 'E-mail address',
  firstName: 'First name',
  lastName: 'Last name',
} as const;

const formats: Readonly<Record<string, string>> = {
  number: 'A number.',
  date: 'A date, such as 2026-12-31.',
  email: 'An e-mail address.',
  url: 'An http or https address.',
};

function typeOf({ type, multivalued, validation }: Attribute): FieldType {
  const options = validation.options ?? (type === 'boolean' ? ['true', 'false'] : undefined);
  if (options) return { is: multivalued ? 'choices' : 'choice', options };
  const most = validation.maxLength ?? undefined;
  const text: FieldType = {
    is: 'text',
    ...(most !== undefined && { most }),
    ...((most ?? 0) > LONG && { long: true }),
    ...(type === 'url' && { widget: 'url' as const }),
  };
  return multivalued ? { is: 'list', item: text } : text;
}

function helpOf({ name, displayName, type, validation }: Attribute): string | undefined {
  const { min, max } = validation;
  const said = [
    displayName !== null && !isOwn(name) ? `The attribute \`${name}\`.` : undefined,
    formats[type],
    typeof min === 'number' ? `At least ${min}.` : undefined,
    typeof max === 'number' ? `At most ${max}.` : undefined,
  ].filter(Boolean);
  return said.length > 0 ? said.join(' ') : undefined;
}

/**
 * @param profile undefined: the reader may not read it; then attributes are one map
 * @param isLimited the reader administers single groups, and changes what users may change themselves
 */
export function userFields(profile: Profile | undefined, isLimited: boolean): UserField[] {
  const declared = new Map((profile?.attributes ?? []).map((attribute) => [attribute.name, attribute]));
  const party = isLimited ? 'user' : 'admin';
  const mayEdit = (attribute: Attribute | undefined) => !attribute || attribute.edit.includes(party);
  const own = ownFields.map((name): UserField => {
    const attribute = declared.get(name);
    const nullable = name !== 'username';
    return {
      name,
      label: attribute?.displayName ?? ownLabels[name],
      help: attribute && helpOf(attribute),
      type: { is: 'text', most: name === 'email' ? 254 : 255 },
      nullable,
      required: name === 'username' || (attribute?.required.includes('admin') ?? false),
      isReadOnly: (isLimited && name === 'username') || !mayEdit(attribute),
    };
  });
  const attributes = (profile?.attributes ?? [])
    .filter(({ name, view }) => !isOwn(name) && view.includes('admin'))
    .map(
      (attribute): UserField => ({
        name: nameOf(attribute.name),
        label: attribute.displayName ?? attribute.name,
        help: helpOf(attribute),
        type: typeOf(attribute),
        nullable: true,
        required: attribute.required.includes('admin'),
        isReadOnly: !mayEdit(attribute),
      }),
    );
  const unmanaged = profile?.unmanagedAttributes ?? 'enabled';
  if (unmanaged === 'disabled') return [...own, ...attributes];
  const others: UserField = {
    name: OTHERS,
    label: attributes.length > 0 ? 'Other attributes' : 'Attributes',
    help: 'Names with lists of values; applications get them by claims.',
    type: { is: 'map', value: { is: 'list', item: { is: 'text' } } },
    nullable: false,
    required: false,
    isReadOnly: unmanaged === 'adminView' || (isLimited && unmanaged !== 'enabled'),
  };
  return [...own, ...attributes, others];
}

const attributeOf = (name: string): string => name.slice(nameOf('').length);
const isDeclared = ({ name }: UserField): boolean => name.startsWith(nameOf(''));
const isMany = ({ type }: UserField): boolean => type.is === 'list' || type.is === 'choices';

/** The values of the fields for a user. */
export function valuesOf(fields: readonly UserField[], user: Partial<User>): Row {
  const attributes = user.attributes ?? {};
  const declared = fields.filter(isDeclared);
  const names = new Set(declared.map(({ name }) => attributeOf(name)));
  return {
    ...Object.fromEntries(ownFields.map((name) => [name, user[name] ?? null])),
    emailVerified: user.emailVerified ?? false,
    ...Object.fromEntries(
      declared.map((field) => {
        const values = attributes[attributeOf(field.name)] ?? [];
        return [field.name, isMany(field) ? values : (values[0] ?? null)];
      }),
    ),
    [OTHERS]: Object.fromEntries(Object.entries(attributes).filter(([name]) => !names.has(name))),
  };
}

const valuesIn = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).flatMap((one) =>
    one === null || one === undefined || one === '' ? [] : [String(one)],
  );

/** The part of a request's body that the edits are; attributes are sent whole if one of them is edited. */
export function bodyOf(fields: readonly UserField[], before: Partial<User>, edits: Row): Row {
  const own = Object.fromEntries(
    Object.entries(edits).filter(([name, value]) => value !== undefined && (isOwn(name) || name === 'emailVerified')),
  );
  const edited = fields.filter((field) => isDeclared(field) && edits[field.name] !== undefined);
  if (edited.length === 0 && edits[OTHERS] === undefined) return own;
  const declared = new Set(fields.filter(isDeclared).map(({ name }) => attributeOf(name)));
  const attributes: Record<string, string[]> = {
    ...Object.fromEntries(Object.entries(before.attributes ?? {}).filter(([name]) => declared.has(name))),
    ...(edits[OTHERS] === undefined
      ? Object.fromEntries(Object.entries(before.attributes ?? {}).filter(([name]) => !declared.has(name)))
      : Object.fromEntries(Object.entries(Object(edits[OTHERS])).map(([name, values]) => [name, valuesIn(values)]))),
  };
  for (const { name } of edited) {
    const values = valuesIn(edits[name]);
    if (values.length > 0) attributes[attributeOf(name)] = values;
    else delete attributes[attributeOf(name)];
  }
  return { ...own, attributes };
}
