// The realm document's `userProfile`: each of its two fields an object of its own, as settings are. Decisions "User profile".
import {
  type UserProfileDocument as Document,
  freshAttribute,
  ProfileAttribute,
  profileParties,
  type UserProfile,
  UserProfileDocument,
} from '../../../contract/user-profile.ts';
import { faultsOfProfile, freshProfile, profileWith, readProfile } from '../../../domain/user-profile.ts';
import { joinPaths, parsing, withoutUndefined } from '../../../resource/items.ts';
import type { Existing, Item, RealmPart } from '../../../resource/part.ts';

const event = 'USER_PROFILE_UPDATED';
const parties = (of: readonly string[]) => profileParties.filter((party) => of.includes(party));

/** The canonical form of a document's profile. */
export function canonicalProfile({ unmanagedAttributes, attributes }: Document): Partial<UserProfile> {
  return {
    ...(unmanagedAttributes && { unmanagedAttributes }),
    ...(attributes && {
      attributes: attributes.map((attribute) => {
        const { required, view, edit, validation, ...rest } = ProfileAttribute.parse({
          ...freshAttribute,
          ...withoutUndefined(attribute),
        });
        const rules = Object.entries(validation).filter(([, value]) => value !== null && value !== undefined);
        return {
          ...rest,
          annotations: { ...rest.annotations },
          required: parties(required),
          view: parties(view),
          edit: parties(edit),
          validation: Object.fromEntries(rules),
        };
      }),
    }),
  };
}

export const userProfilePart: RealmPart = {
  section: 'userProfile',
  kind: 'userProfile',
  area: 'settings',
  list: false,
  fieldwise: true,
  parse: parsing(UserProfileDocument, (said, path) =>
    Object.entries(canonicalProfile(said)).map(
      ([key, value]): Item => ({ key, fields: { value }, path: joinPaths(path, key) }),
    ),
  ),
  print: (objects) => Object.fromEntries(objects.map(({ key, fields }) => [key, fields.value])),
  fresh: (_, key) => ({ value: new Map<string, unknown>(Object.entries(freshProfile)).get(key) }),
  async read(sql, realm) {
    const profile = await readProfile(sql, realm);
    return new Map(Object.entries(profile).map(([key, value]): [string, Existing] => [key, { fields: { value } }]));
  },
  async whole(sql, realm, changes) {
    const own = changes.find(({ kind, key }) => kind === 'userProfile' && key === 'attributes');
    if (!own) return [];
    const wanted = await profileWith(freshProfile, { attributes: own.fields.value });
    const faults = await faultsOfProfile(wanted, await readProfile(sql, realm));
    // an item's path ends in the field's name, with which the faults' paths begin too
    const above = own.path.replace(/\.?attributes$/, '');
    return faults.map((fault) => ({ ...fault, path: joinPaths(above, fault.path) }));
  },
  async write(sql, realm, { update }) {
    const patch = Object.fromEntries(update.map(({ key, fields }) => [key, fields.value]));
    await sql`
      update realm set user_profile = coalesce(user_profile, '{}') || ${JSON.stringify(patch)}::jsonb
      where realm_id = ${realm}`;
  },
  subject: (_, __, realm) => ({ type: 'realm', id: realm, name: realm }),
  events: { create: event, update: event, delete: event },
};
