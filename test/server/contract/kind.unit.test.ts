// Owns: what the compiler demands of a kind's declaration; the routes and bodies of a kind with a key of several fields.
// Does not own: the kinds (resource/same-by-both-ways.test.ts), docs/development.md's example (documentation/new-kind.long.test.ts).
// Implements: design "A plain resource: one declaration".
import { expect, test } from 'vitest';
import { z } from 'zod';
import { type InputOf, kind } from '../../../server/contract/kind.ts';

const plain = {
  section: 'notices',
  kind: 'notice',
  one: 'a notice',
  many: 'notices',
  description: 'Notices',
  key: 'name',
  fields: { name: z.string(), places: z.array(z.enum(['top', 'end'])) },
  most: 10,
  example: { name: 'one' },
  updateExample: {},
} as const;

test('a declaration that names other fields than its own, or gives a field a wrong value, does not compile', () => {
  const [needed, secrets] = [['colour'] as const, { secret: z.string() }];
  const declared = [
    kind({ ...plain, secrets, example: { name: 'one', secret: null }, updateExample: { places: ['end'] } }),
    // @ts-expect-error a key that is no field
    kind({ ...plain, key: 'title' }),
    // @ts-expect-error a needed field that it doesn't have
    kind({ ...plain, needed }),
    // @ts-expect-error an example without the key
    kind({ ...plain, example: { places: ['top'] } }),
    // @ts-expect-error a value that the schema refuses
    kind({ ...plain, fresh: { places: ['left'] } }),
    // @ts-expect-error a value for a field that it doesn't have
    kind({ ...plain, updateExample: { colour: 'red' } }),
    // @ts-expect-error an option that doesn't exist
    kind({ ...plain, colour: 'red' }),
  ];
  expect(declared.map(({ section }) => section)).toEqual(declared.map(() => 'notices'));
});

test('of a key of several fields, PUT on the list names the object in its body, and other paths have the fields in order', () => {
  const banners = kind({
    ...plain,
    path: 'look/banners',
    area: 'look',
    key: ['place', 'locale'],
    fields: { place: z.enum(['top', 'end']), locale: z.string(), text: z.string() },
    asked: { locale: z.string().describe('Default en') },
    example: { place: 'top', text: 'Hello' },
  });
  const all = '/admin/realms/:realm/look/banners';
  expect(Object.values(banners.routes).map(({ method, path }) => `${method} ${path}`)).toEqual([
    `GET ${all}`,
    `PUT ${all}`,
    `GET ${all}/:place/:locale`,
    `DELETE ${all}/:place/:locale`,
  ]);
  const body: InputOf<typeof banners> = { place: 'end' };
  expect(banners.input.safeParse(body).success).toBe(true);
  // @ts-expect-error without the field that no request can leave out
  expect(banners.input.safeParse({ locale: 'en' } satisfies InputOf<typeof banners>).success).toBe(false);
  expect(banners.entry.element.safeParse(body).success).toBe(false);
  expect(banners.entry.element.safeParse({ ...body, locale: 'en' }).success).toBe(true);
  expect(banners.fresh).toEqual({ text: undefined });
});
