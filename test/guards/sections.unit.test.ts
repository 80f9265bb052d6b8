// The one table of sections: each entry is known to whoever speaks of sections, and a new one would be.
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Part } from '../../cli/declared.ts';
import { merge } from '../../cli/merge.ts';
import { keysOf, renderCrds, structural } from '../../operator/crd.ts';
import { referencesIn, withSecrets } from '../../operator/kinds/secret-references.ts';
import { createParts } from '../../server/compose/realm-document.ts';
import { createResources } from '../../server/compose/resources.ts';
import { eventTypes } from '../../server/contract/events.ts';
import { realmFields, resourceField } from '../../server/contract/resources/realm.ts';
import { elementsOf, type Section, type Table } from '../../server/contract/section.ts';
import { sectionEvents } from '../../server/contract/section-names.ts';
import { givesAdminRoles, presentSections, sections } from '../../server/contract/sections.ts';
import { RealmDocument } from '../../server/contract/transfer.ts';
import { newId } from '../../server/crypto/ids.ts';
import { createSeal } from '../../server/crypto/seal.ts';
import { fullRealm } from '../support/full-realm.ts';

const never = () => Promise.reject(new Error('nothing is hashed here'));
const parts = createParts({
  baseUrl: 'https://id.example.com',
  keys: { prepare: never },
  registry: [],
  resources: createResources({
    seal: createSeal([Buffer.alloc(32)]),
    passwords: { hash: never, verify: never },
    keys: { prepare: never },
    baseUrl: 'https://id.example.com',
    now: () => new Date(0),
  }),
  newId,
});

test('every section but users has a part, in the table’s order, which says of itself what the table says', () => {
  const told = parts.map(({ section, kind, area, list, secrets = [] }) => ({ section, kind, area, list, secrets }));
  const table = [...presentSections].map(([section, { kind, area, shape, secrets = [] }]) => ({
    section,
    kind,
    area,
    list: shape === undefined,
    secrets,
  }));
  expect(told).toEqual(table.filter(({ section }) => section !== 'users'));
});

test('what changes in a section is told by an event that raises the revision, by its name where it has one of its own', () => {
  for (const { section, events } of parts) {
    expect(sectionEvents.get(section) ?? events).toEqual(events);
    for (const type of Object.values(events)) expect([type, eventTypes[type].configuration]).toEqual([type, true]);
  }
  expect(sectionEvents.get('samlClients')?.create).toBe('SAML_CLIENT_CREATED');
});

test('kinds and labels are each said once', () => {
  const all = [...presentSections.values()];
  expect(new Set(all.map(({ kind }) => kind)).size).toBe(all.length);
  expect(new Set(all.map(({ label }) => label)).size).toBe(all.length);
});

const Tree = z.record(z.string(), z.unknown());
const at = (value: unknown, ...path: (string | number)[]) =>
  path.reduce((node, step) => Tree.catch({}).parse(node)[step], value);
function realmSpec() {
  const crd = [...renderCrds()].find(([file]) => file.endsWith('_realms.yaml'))?.[1] ?? '';
  const { versions } = z.object({ versions: z.array(Tree) }).parse(at(parse(crd), 'spec'));
  return at(versions[0], 'schema', 'openAPIV3Schema', 'properties', 'spec', 'properties');
}

test('the document has every section of the table, the Realm’s definition those that are its own', () => {
  const keys = Object.keys(RealmDocument.shape).filter((key) => !['formatVersion', 'requiredEnv'].includes(key));
  expect(keys).toEqual(Object.keys(sections));
  const spec = Tree.parse(realmSpec());
  for (const [name, { resource, secrets = [] }] of presentSections) {
    if (resource?.kind !== 'Realm') {
      expect(spec).not.toHaveProperty(name);
      continue;
    }
    const field = resource.field ?? name;
    expect(spec).toHaveProperty(field);
    for (const secret of secrets)
      expect(Object.keys(Tree.parse(at(spec, field, 'items', 'properties')))).toContain(`${secret}KeyRef`);
  }
  for (const [name, section] of Object.entries<Table[string]>(sections))
    if (section === 'later') expect(spec).not.toHaveProperty(name);
});

test('lists of the Realm’s definition go by the key that the table gives', () => {
  for (const [field, { section }] of realmFields) {
    if (section.key === undefined) continue;
    const { groups } = section;
    if (groups) expect(at(realmSpec(), field, 'x-kubernetes-list-map-keys')).toEqual([groups.by]);
    const within = groups
      ? ['items', 'properties', groups.list]
      : section.shape === 'map'
        ? ['additionalProperties']
        : [];
    const list = at(realmSpec(), field, ...within);
    expect([field, at(list, 'x-kubernetes-list-map-keys')]).toEqual([field, [section.key].flat()]);
  }
});

const part = (document: RealmDocument, file: string): Part => ({
  realm: 'acme',
  document,
  item: { file, document: 1, value: document, lineOf: () => 1 },
  object: 'realm document',
  pathOf: (path) => path,
});

test.each([...presentSections])(
  'realmctl tells each element of %s that two files declare, in its words',
  (name, section) => {
    const value: unknown = Reflect.get(fullRealm(), name);
    const elements =
      section.shape === 'object' ? Object.keys(Object(value)) : elementsOf(section, value).map(({ key }) => key);
    expect(elements.length).toBeGreaterThan(0);
    const piece = { [name]: value };
    const { faults } = merge([part(piece, 'a.yaml'), part(piece, 'b.yaml')]);
    expect(faults.map(({ message }) => message)).toEqual(
      elements.map((key) => `the ${section.label} ${key} is declared twice, at a.yaml:1`),
    );
  },
);

test.each([
  ['an admin role', { adminRoles: [{ name: 'auditor', permissions: [] }] }, true],
  ['a service account’s', { serviceAccountRoles: [{ clientId: 'ci', adminRoles: ['auditor'] }] }, true],
  ['only roles', { roles: [{ name: 'reader' }], serviceAccountRoles: [{ clientId: 'ci', roles: ['reader'] }] }, false],
  ['nothing of either', { adminRoles: [], serviceAccountRoles: [] }, false],
])('a document with %s is told from those that give no admin rights', (_, document, gives) => {
  expect(givesAdminRoles(document)).toBe(gives);
});

// What would follow from an entry that isn't there yet: a key of two fields, a secret, items with names in each element.
const providers: Section = {
  kind: 'provider',
  label: 'messaging provider',
  area: 'messaging',
  key: ['channel', 'driver'],
  element: z.strictObject({
    channel: z.enum(['EMAIL', 'SMS']),
    driver: z.string(),
    secret: z.string().optional(),
    headers: z.array(z.strictObject({ name: z.string(), value: z.string() })).optional(),
  }),
  namedLists: { headers: 'name' },
  secrets: ['secret'],
  most: 10,
  resource: { kind: 'Realm', description: 'Who sends messages', most: 5 },
};
const secretKeyRef = { name: 'smtp', key: 'password' };
const smtp = { channel: 'EMAIL', driver: 'smtp' };

test('a new section with a secret has a reference in its place in the Realm, and keeps the Realm’s bounds', () => {
  const field = resourceField(providers);
  expect(field.safeParse([{ ...smtp, secretKeyRef }]).success).toBe(true);
  expect(field.safeParse([{ ...smtp, secret: 'a literal' }]).success).toBe(false);
  expect(field.safeParse(Array.from({ length: 6 }, (_, n) => ({ ...smtp, driver: `${n}` }))).success).toBe(false);
  const printed = structural(field, 'spec.providers');
  expect(printed).toMatchObject({ maxItems: 5, description: 'Who sends messages' });
  expect(at(printed, 'items', 'properties', 'secretKeyRef', 'description')).toBe(
    'The messaging provider’s secret; left out: the server keeps the one it has',
  );
});

test.each<[string, Partial<Section>, ReturnType<typeof keysOf>]>([
  [
    'a list',
    {},
    [
      ['spec.p', ['channel', 'driver']],
      ['spec.p[].headers', ['name']],
    ],
  ],
  [
    'a map',
    { shape: 'map' },
    [
      ['spec.p.*', ['channel', 'driver']],
      ['spec.p.*[].headers', ['name']],
    ],
  ],
])('the lists of a new section that is %s go by the fields that name their items', (_, shape, keys) => {
  expect(keysOf('spec.p', { ...providers, ...shape })).toEqual(keys);
});

test('lists in a new section that is one object go by the fields that name their items', () => {
  const { key: _, ...object } = providers;
  expect(keysOf('spec.p', { ...object, shape: 'object' })).toEqual([['spec.p.headers', ['name']]]);
});

const values = new Map([['smtp/password', 'the value']]);
const told = { ...smtp, secret: 'the value' };
const given = { ...smtp, secretKeyRef };
test.each<[string, Section['shape'], unknown, unknown, string[]]>([
  [
    'a list',
    undefined,
    [given, { ...smtp, driver: 'http' }],
    [told, { ...smtp, driver: 'http' }],
    ['EMAIL/smtp', 'EMAIL/http'],
  ],
  ['a map', 'map', { shop: [given], desk: [] }, { shop: [told], desk: [] }, ['shop/EMAIL/smtp']],
  ['one object', 'object', given, told, ['']],
])('the Secrets of a new section that is %s are found, and their values put in', (_, shape, value, document, keys) => {
  const section: Section = { ...providers, ...(shape && { shape }) };
  expect(referencesIn(section, value)).toEqual([secretKeyRef]);
  expect(withSecrets(section, value, values)).toStrictEqual(document);
  expect(elementsOf(section, value).map(({ key }) => key)).toEqual(keys);
});

test('a Secret of a new section that is missing, or that reads like a placeholder, is refused by the element’s name', () => {
  expect(() => withSecrets(providers, [given], new Map())).toThrow('the Secret smtp has no key password');
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of a realm document
  const placeholder = new Map([['smtp/password', '${SVC_VAR_MASTER}']]);
  expect(() => withSecrets(providers, [given], placeholder)).toThrow(
    'the secret of EMAIL/smtp must be a value, not a placeholder',
  );
});
