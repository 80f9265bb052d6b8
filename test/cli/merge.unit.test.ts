// Owns: that a document cut into pieces and put together again is the same, and that no piece may be there twice.
// Does not own: where faults stand (declared.unit.test.ts).
// Implements: docs/cli.md: what is declared in one run is one document of one manager.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Part } from '../../cli/declared.ts';
import { merge } from '../../cli/merge.ts';
import { RealmDocument } from '../../server/contract/transfer.ts';
import { realmDocument } from '../support/documents.ts';

const part = (document: RealmDocument, file: string): Part => ({
  realm: 'acme',
  document,
  item: { file, document: 1, value: document, lineOf: () => 1 },
  object: 'realm document',
  pathOf: (at) => at,
});

type Lists = Record<string, unknown>;
/** One piece for each object, setting or client's role. */
function pieces(document: RealmDocument): RealmDocument[] {
  const one = (section: string, value: unknown): RealmDocument => ({ [section]: value });
  return Object.entries(document satisfies object as Lists).flatMap(([section, value]) => {
    if (Array.isArray(value)) return value.map((item) => one(section, [item]));
    return Object.entries(Object(value)).flatMap(([name, inner]) =>
      section === 'clientRoles' && Array.isArray(inner)
        ? inner.map((role) => one(section, { [name]: [role] }))
        : [one(section, { [name]: inner })],
    );
  });
}
/** Without what an empty section says, which a piece can't. */
const substance = (document: RealmDocument) =>
  pieces(document)
    .map((piece) => JSON.stringify(piece))
    .sort();

test('pieces of a document make the document, in whatever order the files come', () => {
  fc.assert(
    fc.property(realmDocument(), fc.nat(), (document, seed) => {
      const { formatVersion: _, requiredEnv: __, ...rest } = RealmDocument.parse(document);
      const all = pieces(rest);
      const turned = all.map((_piece, i) => all[(i + seed) % all.length] ?? {});
      const { realms, faults } = merge(turned.map((piece, i) => part(piece, `${i}.yaml`)));
      expect(faults).toEqual([]);
      if (all.length > 0) expect(substance(realms[0]?.document ?? {})).toEqual(substance(rest));
    }),
    { numRuns: 100 },
  );
});

test('every piece that is there twice is a fault that names both files', () => {
  fc.assert(
    fc.property(realmDocument(), (document) => {
      const { formatVersion: _, requiredEnv: __, ...rest } = RealmDocument.parse(document);
      const all = pieces(rest);
      const { faults } = merge([...all.map((piece) => part(piece, 'a.yaml')), part(rest, 'b.yaml')]);
      expect(faults).toHaveLength(all.length);
      expect(faults.every(({ file, message }) => file === 'b.yaml' && message.endsWith('at a.yaml:1'))).toBe(true);
    }),
    { numRuns: 50 },
  );
});

test('what the server says of a path leads back to the piece that it came from', () => {
  const files = [{ roles: [{ name: 'a' }] }, { roles: [{ name: 'b' }, { name: 'c' }], realm: { requireMfa: true } }];
  const { realms } = merge(files.map((document, i) => part(document, `${i}.yaml`)));
  const place = (path: string) => {
    const found = realms[0]?.placeOf(path);
    return found && [found.file, found.path];
  };
  expect(place('roles[0].name')).toEqual(['0.yaml', 'roles[0].name']);
  expect(place('roles[2].name')).toEqual(['1.yaml', 'roles[1].name']);
  expect(place('realm.requireMfa')).toEqual(['1.yaml', 'realm.requireMfa']);
  expect(place('clients[0]')).toBeUndefined();
});

test('a client may have a name that objects have a property of', () => {
  const roles = (name: string) => ({ clientRoles: { constructor: [{ name }] } });
  const { realms } = merge([part(roles('reader'), 'a.yaml'), part(roles('writer'), 'b.yaml')]);
  expect(realms[0]?.document.clientRoles?.constructor).toEqual([{ name: 'reader' }, { name: 'writer' }]);
});
