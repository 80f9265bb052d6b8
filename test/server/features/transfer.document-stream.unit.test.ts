import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Problem } from '../../../server/contract/problem.ts';
import {
  createSplitter,
  type Limits,
  type Slice,
} from '../../../server/features/operations/transfer/document-stream.ts';

const generous: Limits = { bytes: 1e6, elementBytes: 1e6, unbounded: new Set(['users']) };

function split(bytes: Buffer, cuts: readonly number[], limits = generous): Slice[] {
  const slices: Slice[] = [];
  const splitter = createSplitter({ limits, slice: (slice) => void slices.push(slice) });
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  for (const [i, place] of [0, ...places].entries()) splitter.write(bytes.subarray(place, places[i] ?? bytes.length));
  splitter.end();
  return slices;
}

/** The document that the slices are pieces of. */
function joined(slices: readonly Slice[]): Record<string, unknown> {
  const document = new Map<string, unknown>();
  for (const { key, index, text } of slices) {
    if (text === undefined) document.set(key, []);
    else if (index === undefined) document.set(key, JSON.parse(text));
    else {
      const list = document.get(key);
      document.set(key, [...(Array.isArray(list) ? list : []), JSON.parse(text)]);
    }
  }
  return Object.fromEntries(document);
}

const names = fc.string().filter((s) => s !== '__proto__');
const documents = fc.dictionary(names, fc.jsonValue());
const cuts = fc.array(fc.nat(10_000), { maxLength: 12 });

test('however a document is cut into chunks and blanks, its pieces are the same', () => {
  fc.assert(
    fc.property(documents, cuts, fc.constantFrom(undefined, 1, '\t'), (document, where, indent) => {
      const bytes = Buffer.from(JSON.stringify(document, null, indent));
      expect(joined(split(bytes, where))).toEqual(JSON.parse(JSON.stringify(document)));
    }),
  );
});

test('what isn’t a JSON object is refused as a problem, never otherwise, and never taken for another', () => {
  fc.assert(
    fc.property(
      documents,
      fc.nat(),
      fc.constantFrom('', ',', '}', ']', '"', '{', 'x', '\\'),
      cuts,
      (document, at, wrong, where) => {
        const text = JSON.stringify(document);
        const place = at % text.length;
        const broken = Buffer.from(text.slice(0, place) + wrong + text.slice(place + 1));
        let parsed: unknown;
        try {
          parsed = JSON.parse(broken.toString());
        } catch {
          parsed = undefined;
        }
        const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
        try {
          const slices = split(broken, where);
          // A piece that is no JSON is found when it is parsed.
          const again = slices.every(({ text: piece }) => piece === undefined || parses(piece))
            ? joined(slices)
            : undefined;
          expect(again).toEqual(isObject ? parsed : undefined);
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
          expect(error.status).toBe(400);
        }
      },
    ),
  );
});

const parses = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

test('a byte order mark before the document is no part of it', () => {
  expect(split(Buffer.from('\ufeff{"a":1}'), [])).toEqual([{ key: 'a', index: undefined, text: '1' }]);
});

test('users may be any number, one of them and all the rest are bounded', () => {
  const limits: Limits = { bytes: 100, elementBytes: 50, unbounded: new Set(['users']) };
  const users = (n: number, size: number) =>
    Buffer.from(JSON.stringify({ users: Array.from({ length: n }, () => 'x'.repeat(size)) }));
  expect(split(users(1000, 10), [], limits)).toHaveLength(1000);
  expect(() => split(users(1, 60), [], limits)).toThrow(/larger/);
  expect(() => split(Buffer.from(JSON.stringify({ roles: ['x'.repeat(120)] })), [], limits)).toThrow(/larger/);
});
