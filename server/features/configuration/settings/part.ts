// The realm document's `realm` (each setting an object of its own) and `resourceIndicators`. Specification 2.3, 2.10.
import { sections } from '../../../contract/sections.ts';
import { PROFILE_ALGORITHM, SecurityProfile } from '../../../contract/security-profiles.ts';
import { freshSettings, type RealmSettingsDto, ResourceIndicator, settingNames } from '../../../contract/settings.ts';
import type { Sql } from '../../../db/sql.ts';
import { anothersResource, isAnothers } from '../../../http/own-addresses.ts';
import type { ResourceDeps } from '../../../resource/declared.ts';
import { joinPaths, parsing } from '../../../resource/items.ts';
import type { Batch, Existing, Fields, Item, RealmPart, Saved } from '../../../resource/part.ts';
import { clientsAgainstProfile } from '../clients/against-profile.ts';
import { AUTHORITIES, accountLendingFields, permissionsBesides, settingsFaults, settingsOf } from './rules.ts';
import { clientsOfAuthorities, mergeSettings, readSettings, refuseTakenIssuer } from './store.ts';

const events = { create: 'SETTINGS_UPDATED', update: 'SETTINGS_UPDATED', delete: 'SETTINGS_UPDATED' } as const;

async function settingsIn(sql: Sql, realm: string): Promise<RealmSettingsDto> {
  return settingsOf(realm, (await readSettings(sql, realm)) ?? {});
}

/** The most clients that a warning names. */
const MOST_NAMED = 20;

/** The security profile that these changes set. */
const profileIn = (changes: readonly { key: string; fields: Fields }[]): SecurityProfile | undefined =>
  SecurityProfile.safeParse(changes.find(({ key }) => key === 'profile')?.fields.value).data;

/** @param baseUrl for the rules of `issuer` */
export function createSettingsPart({ baseUrl, keys }: Pick<ResourceDeps, 'baseUrl' | 'keys'>): RealmPart {
  return {
    section: 'realm',
    kind: 'settings',
    area: 'settings',
    list: false,
    fieldwise: true,
    // `realmId` of an older export is read and ignored
    parse: parsing(sections.realm.document, ({ realmId: _, ...fields }, path) =>
      Object.entries(fields).map(([key, value]): Item => ({ key, fields: { value }, path: joinPaths(path, key) })),
    ),
    print: (objects) => Object.fromEntries(objects.map(({ key, fields }) => [key, fields.value])),
    fresh: (realm, key) => ({ value: new Map<string, unknown>(Object.entries(freshSettings(realm))).get(key) }),
    async read(sql, realm) {
      const current = new Map<string, unknown>(Object.entries(await settingsIn(sql, realm)));
      return new Map(settingNames.map((key): [string, Existing] => [key, { fields: { value: current.get(key) } }]));
    },
    references: ({ key, fields }) =>
      key === 'browserFlow' ? [{ kind: 'flow', key: String(fields.value), path: '' }] : [],
    async whole(sql, realm, changes) {
      const changed = changes.filter(({ kind }) => kind === 'settings');
      if (changed.length === 0) return [];
      const patch = Object.fromEntries(changed.map(({ key, fields }) => [key, fields.value]));
      const wanted = settingsOf(realm, { ...(await settingsIn(sql, realm)), ...patch });
      const faults = settingsFaults(wanted, { baseUrl, changed: Object.keys(patch) });
      if (faults.length === 0) await refuseTakenIssuer(sql, realm, patch.issuer, 'realm.issuer');
      return faults.map((fault) => ({ ...fault, path: joinPaths('realm', fault.path) }));
    },
    needs: ({ key }) => permissionsBesides[key] ?? [],
    actsAsOthers: (changes, realm) =>
      changes.some(({ key }) => key === AUTHORITIES) ? clientsOfAuthorities(realm) : undefined,
    async lendsAccounts(sql, realm, changes) {
      const before = await settingsIn(sql, realm);
      const patch = Object.fromEntries(changes.map(({ key, save }) => [key, save.value]));
      return accountLendingFields(before, { ...before, ...patch }).map((field) => joinPaths('realm', field));
    },
    async write(sql, realm, { update }) {
      const patch = Object.fromEntries(update.map(({ key, fields }) => [key, fields.value]));
      await mergeSettings(sql, realm, patch);
    },
    /** Clients that a new profile of the realm refuses. */
    async warnings(sql, realm, _, changes) {
      const set = changes.find(({ kind, key }) => kind === 'settings' && key === 'profile');
      const profile = SecurityProfile.safeParse(set?.save.value);
      if (!profile.success) return [];
      const except = changes.flatMap(({ kind, key }) => (kind === 'client' ? [key] : []));
      const found = await clientsAgainstProfile(sql, realm, { profile: profile.data, except });
      const named = found.slice(0, MOST_NAMED).map(({ clientId, lacks }) => `${clientId}: ${lacks}`);
      const more = found.length > MOST_NAMED ? `; and ${found.length - MOST_NAMED} more` : '';
      const message = `these clients are refused until they are corrected: ${named.join('; ')}${more}`;
      return found.length === 0 ? [] : [{ key: 'profile', message }];
    },
    onChange: (tx, realm, changes) =>
      profileIn(changes) === undefined ? Promise.resolve() : keys.prepare(tx, realm, [PROFILE_ALGORITHM]),
    events,
  };
}

async function indicators(sql: Sql, realm: string): Promise<string[]> {
  return (await settingsIn(sql, realm)).resourceIndicators;
}

const INDICATOR = 'resourceIndicator';

/** RFC 8707's allow-list: each address belongs to the manager that added it. */
export const createResourceIndicatorsPart = ({ baseUrl }: { baseUrl: string }): RealmPart => ({
  section: 'resourceIndicators',
  kind: INDICATOR,
  area: 'settings',
  list: true,
  parse: parsing(ResourceIndicator, (key, path) => [{ key, fields: {}, path }]),
  print: (objects) => objects.map(({ key }) => key),
  fresh: () => ({}),
  async read(sql, realm, keys) {
    const wanted = keys && new Set(keys);
    const all = (await indicators(sql, realm)).filter((key) => !wanted || wanted.has(key));
    return new Map(all.map((key): [string, Existing] => [key, { fields: {} }]));
  },
  whole: async (_, realm, changes) =>
    changes
      .filter(
        ({ kind, action, key }) => kind === INDICATOR && action === 'create' && isAnothers(key, { baseUrl, realm }),
      )
      .map(({ key, path }) => ({ path, message: anothersResource(key) })),
  async write(sql: Sql, realm: string, { create, remove }: Batch) {
    const gone = new Set(remove);
    const kept = (await indicators(sql, realm)).filter((key) => !gone.has(key));
    const list = [...new Set([...kept, ...create.map((s: Saved) => s.key)])].sort();
    await mergeSettings(sql, realm, { resourceIndicators: list });
  },
  subject: (_, __, realm) => ({ type: 'realm', id: realm, name: realm }),
  events,
});
