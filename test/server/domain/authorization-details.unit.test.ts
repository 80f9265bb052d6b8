// The details of rich authorization requests: their bounds, their comparison, and their types' schemas.
import { beforeAll, describe, expect, test } from 'vitest';
import {
  detailsCovered,
  detailsFor,
  detailsIn,
  parseDetails,
  typesOf,
} from '../../../server/domain/authorization-details.ts';
import { detailFault, hasField, loadDetailSchemas, schemaFault } from '../../../server/domain/detail-schema.ts';

const descriptionOf = (text: string): string => {
  try {
    parseDetails(text);
    return 'accepted';
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
};

describe('the parameter', () => {
  test.each([
    ['no JSON', '[{', 'is not JSON'],
    ['one object', '{"type":"a"}', 'is not a list'],
    ['an empty list', '[]', '1 to 20 elements'],
    ['too many', JSON.stringify(Array.from({ length: 21 }, () => ({ type: 'a' }))), '1 to 20 elements'],
    ['no type', '[{"kind":"a"}]', 'needs a type'],
    ['a list as an element', '[["a"]]', 'needs a type'],
    ['locations that are no list', '[{"type":"a","locations":"x"}]', 'locations is a list'],
    ['an empty list of locations', '[{"type":"a","locations":[]}]', 'locations is a list'],
    ['too long a text', JSON.stringify([{ type: 'a', b: 'x'.repeat(10_000) }]), 'longer than'],
    ['too many values', JSON.stringify([{ type: 'a', b: Array.from({ length: 1001 }, () => 1) }]), 'more than 1000'],
    ['deep nesting', `[{"type":"a","b":${'['.repeat(9)}1${']'.repeat(9)}}]`, 'nested more than'],
    ['a text that runs backwards', JSON.stringify([{ type: 'a', b: 'me\u202e' }]), 'invisible'],
    ['a field whose name runs backwards', JSON.stringify([{ type: 'a', 'me\u202e': 1 }]), 'whose name'],
    ['a text far to the right', JSON.stringify([{ type: 'a', b: `1${' '.repeat(80)}2` }]), 'must be one line'],
    ['two lines', JSON.stringify([{ type: 'a', b: '1\n2' }]), 'must be one line'],
    ['__proto__', '[{"type":"a","__proto__":{"b":1}}]', '__proto__'],
    ['a number without end', '[{"type":"a","b":1e400}]', 'number'],
    ['a number that is rounded', '[{"type":"a","b":12345678901234567890}]', 'number'],
  ])('with %s is refused', (_, text, words) => {
    expect(descriptionOf(text)).toContain(words);
  });

  test('is answered in characters that a description may have', () => {
    expect(descriptionOf(JSON.stringify([{ type: 'a', 'ü"\\\u202e': 1 }]))).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  });
});

describe('a narrower request', () => {
  const files = { type: 'files', actions: ['read', 'write'], root: '/a', locations: ['https://a', 'https://b'] };
  test.each<[string, Record<string, unknown>, boolean]>([
    ['the same', files, true],
    ['in another order', { ...files, actions: ['write', 'read'] }, true],
    ['with fewer actions', { ...files, actions: ['read'] }, true],
    ['with fewer locations', { ...files, locations: ['https://b'] }, true],
    ['with another action', { ...files, actions: ['read', 'delete'] }, false],
    ['with no action, which might mean all', { ...files, actions: [] }, false],
    ['without its actions, which might mean all', { type: 'files', root: '/a', locations: files.locations }, false],
    ['with another value', { ...files, root: '/' }, false],
    ['with one more field', { ...files, more: 1 }, false],
    ['of another type', { ...files, type: 'file' }, false],
    ['with a text instead of its list', { ...files, actions: 'read' }, false],
  ])('%s', (_, asked, expected) => {
    expect(detailsCovered(detailsIn({ authorization_details: [asked] }), [files])).toBe(expected);
  });

  test('each has one that covers it alone', () => {
    const [read, write] = [
      { type: 'files', actions: ['read'], root: '/a' },
      { type: 'files', actions: ['write'], root: '/b' },
    ];
    expect(detailsCovered([{ ...read, root: '/b' }], [read, write])).toBe(false);
    expect(detailsCovered([write, write], [read, write])).toBe(true);
  });

  test('a token for one resource has the details for it, and those for anywhere', () => {
    const [here, there, anywhere] = [
      { type: 'x', locations: ['https://a'] },
      { type: 'x', locations: ['https://b'] },
      { type: 'x' },
    ];
    expect(detailsFor([here, there, anywhere], ['https://a'])).toEqual([here, anywhere]);
    expect(detailsFor([here, there, anywhere], [])).toEqual([here, there, anywhere]);
  });

  test('events name the types alone', () => {
    expect(typesOf([{ type: 'b', iban: 'DE02' }, { type: 'a' }, { type: 'b' }])).toEqual({
      authorizationDetailsTypes: ['a', 'b'],
    });
    expect(typesOf([])).toEqual({});
  });
});

describe('the schema of a type', () => {
  beforeAll(loadDetailSchemas);
  const payment = {
    type: 'object',
    properties: {
      amount: { type: 'string', pattern: '^[0-9]{1,9}\\.[0-9]{2}$' },
      to: { type: 'object', properties: { iban: { type: 'string' } }, required: ['iban'] },
      note: { type: 'string', pattern: 'rent' },
    },
    required: ['amount'],
  };

  test.each<[string, Record<string, unknown>, string | undefined]>([
    ['what it describes', { amount: '12.50', to: { iban: 'DE02' } }, undefined],
    ['a field that it does not name', { amount: '1.00', tip: '5.00' }, '(tip)'],
    ['a missing field', { to: { iban: 'DE02' } }, 'amount'],
    ['a value of another type', { amount: 12.5 }, 'at /amount'],
    ['a value that its pattern does not match', { amount: '12.5' }, 'at /amount'],
    ['a pattern somewhere in the text', { amount: '1.00', note: 'the rent of May' }, undefined],
    ['no such text', { amount: '1.00', note: 'the lease' }, 'at /note'],
    ['an inherited name', { amount: '1.00', constructor: 1 }, '(constructor)'],
  ])('%s', (_, fields, fault) => {
    expect(schemaFault(payment)).toBeUndefined();
    const found = detailFault(payment, fields);
    if (fault === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(fault);
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['a reference', { properties: { a: { $ref: '#' } } }, 'is no keyword'],
    ['a dynamic reference', { $dynamicRef: '#a' }, 'is no keyword'],
    ['definitions', { $defs: {} }, 'is no keyword'],
    ['a format', { properties: { a: { type: 'string', format: 'uri' } } }, 'is no keyword'],
    ['names by pattern', { patternProperties: { '^a': true } }, 'is no keyword'],
    ['a keyword that does not exist', { propertis: {} }, 'is no keyword'],
    ['an identifier', { $id: 'https://example.com/schema' }, 'is no keyword'],
    ['another draft', { $schema: 'http://json-schema.org/draft-07/schema#' }, 'must be https://json-schema.org'],
    ['a pattern that looks back', { properties: { a: { type: 'string', pattern: '(?<=a)b' } } }, 'look-around'],
    ['a pattern that is too large', { properties: { a: { type: 'string', pattern: '(a{99}){99}' } } }, 'too large'],
    ['a pattern that breaks out of its group', { properties: { a: { type: 'string', pattern: 'a)|(b' } } }, ''],
    ['a keyword with a wrong value', { properties: { a: { minLength: 'one' } } }, ''],
    ['no object', { type: 'string' }, 'must be object'],
    ['a list in place of a schema', { properties: { a: [] } }, 'must be a schema'],
    ['nesting without end', deep(13), 'levels deep'],
    ['parts without end', { allOf: Array.from({ length: 501 }, () => ({})) }, '500 schemas'],
    [
      'many demands that elements differ',
      { allOf: Array.from({ length: 11 }, () => ({ properties: { a: { uniqueItems: true } } })) },
      'may stand in 10',
    ],
    ['a large schema', { description: 'x'.repeat(20_001) }, 'characters'],
  ])('with %s is refused', (_, more, words) => {
    const fault = schemaFault({ type: 'object', ...more });
    expect(fault).toBeDefined();
    expect(fault?.message).toContain(words);
  });

  test('with a pattern of much work answers in time', () => {
    const slow = { type: 'object', properties: { a: { type: 'array', items: { type: 'string', pattern: '(a+)+$' } } } };
    expect(schemaFault(slow)).toBeUndefined();
    const before = process.cpuUsage();
    expect(detailFault(slow, { a: Array.from({ length: 20 }, () => `${'a'.repeat(400)}!`) })).toContain('/a/0');
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
  });

  test.each([
    ['not', { properties: { to: { not: { pattern: '^DE00' } } } }],
    ['anyOf and not', { properties: { to: { anyOf: [{ not: { pattern: '^DE00' } }, { maxLength: 4 }] } } }],
  ])('with a pattern under %s refuses a text that is too long to compare, and much text', (_, part) => {
    const schema = { type: 'object', ...part, additionalProperties: { type: 'array', items: { pattern: 'z$' } } };
    expect(schemaFault(schema)).toBeUndefined();
    expect(detailFault(schema, { to: 'DE12' })).toBeUndefined();
    expect(detailFault(schema, { to: 'DE0012' })).toContain('at /to');
    expect(detailFault(schema, { to: `DE00${'1'.repeat(1021)}` })).toContain('too long');
    const much = Array.from({ length: 100 }, () => `${'x'.repeat(1000)}z`);
    expect(detailFault(schema, { a: much, to: 'DE0012' })).toContain('too long');
  });

  test('names a field in any of its parts', () => {
    const choice = { oneOf: [{ properties: { a: { properties: { b: {} } } } }, { properties: { c: {} } }] };
    expect(hasField(choice, ['a', 'b'])).toBe(true);
    expect(hasField(choice, ['c'])).toBe(true);
    expect(hasField(choice, ['a', 'c'])).toBe(false);
    expect(hasField(choice, ['constructor'])).toBe(false);
  });
});

function deep(levels: number): Record<string, unknown> {
  return levels === 0 ? {} : { properties: { a: deep(levels - 1) } };
}
