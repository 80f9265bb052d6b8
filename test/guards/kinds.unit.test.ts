// Owns: that realmctl knows every section of the realm document, and what the paths of its routes say.
// Does not own: what the commands do (test/cli).
// Implements: docs/cli.md: get, describe, create, edit, delete.
import { expect, test } from 'vitest';
import { kinds } from '../../cli/kind-table.ts';
import { presentSections } from '../../server/contract/sections.ts';

/** Sections of which realmctl has no kind by their own name, and why. */
const otherwise: Readonly<Record<string, string>> = {
  realm: 'the realm’s settings: one object, by export, apply and api',
  resourceIndicators: 'names alone, which have no routes: a field of the settings',
  userProfile: 'one object, by export, apply and api',
  clientProtocolMappers: 'the kind mappers',
  serviceAccountRoles: 'what is given to a client, by export, apply and api',
};

test('every section of the realm document has a kind of realmctl, or a reason why not', () => {
  const named = new Set(kinds.map(({ singular }) => singular));
  const dashed = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const without = [...presentSections].filter(([, { kind }]) => !named.has(dashed(kind))).map(([section]) => section);
  expect(without).toEqual(Object.keys(otherwise));
});

test('no two kinds share a name', () => {
  const names = kinds.flatMap(({ plural, singular }) => [plural, singular]);
  expect(new Set(names).size).toBe(names.length);
});

/** Has every field, whose value is its name. */
const anything = new Proxy({}, { get: (_, field) => String(field) });

test.each(kinds.map((kind) => [kind.plural, kind] as const))(
  'the address of one of %s says what the paths of its routes ask for',
  (_, { routes, at, parentIn = 'realm' }) => {
    for (const route of [routes.put, routes.remove]) {
      const asked = [...(route?.path.matchAll(/:(\w+)/g) ?? [])].map(([, name]) => name);
      const given = Object.keys({ realm: '', [parentIn]: '', ...at(anything) });
      expect(asked.filter((name) => !given.includes(name ?? ''))).toEqual([]);
    }
  },
);
