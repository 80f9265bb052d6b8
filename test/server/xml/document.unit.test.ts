import { expect, test } from 'vitest';
import { MESSAGE, METADATA, parseXml, textOf, XmlError } from '../../../server/xml/document.ts';

const refusal = (source: string | Buffer, limits = METADATA): string => {
  try {
    parseXml(source, limits);
  } catch (error) {
    if (error instanceof XmlError) return error.message;
    throw error;
  }
  return 'it was taken';
};

/** Elements in each other, each of which declares some anew. */
const nestedNamespaces = (levels: number, each: number): string =>
  `<a${Array.from({ length: each }, (_, i) => ` xmlns:n${i}="urn:u"`).join('')}>`.repeat(levels) +
  '</a>'.repeat(levels);

test('elements, attributes and text are read, whatever prefix, comment or CDATA stands in them', () => {
  const read = parseXml(
    '\uFEFF<?xml version="1.0" encoding="UTF-8"?>\n<a:r xmlns:a="urn:a" xmlns="urn:b" x="&lt;&quot;" a:y="z"><t xml:lang="en">on<!-- > -->e <![CDATA[<t>]]>&#233;</t></a:r>\n',
    METADATA,
  );
  expect(read).toMatchObject({ namespace: 'urn:a', name: 'r', attributes: { x: '<"' } });
  expect(read.attributes).not.toHaveProperty('y');
  expect(read.children).toMatchObject([{ namespace: 'urn:b', name: 't', text: 'one <t>é', language: 'en' }]);
});

test.each<[string, string | Buffer, string]>([
  ['a document type', '<!DOCTYPE r><r/>', 'The XML has a document type'],
  ['an entity', '<!DOCTYPE r [<!ENTITY a "b">]><r>&a;</r>', 'The XML has a document type'],
  ['an external entity behind a comment', '<!-- --><!DOCTYPE r SYSTEM "file:///etc/passwd"><r/>', 'document type'],
  ['an entity that nobody declared', '<r>&a;</r>', 'not well-formed'],
  ['a processing instruction', '<r><?x y?></r>', 'processing instruction'],
  ['an instruction that is named as the declaration', '<r/><?xml version="1.0"?>', 'processing instruction'],
  ['an instruction without a name', '<? x?><r/>', 'processing instruction'],
  ['an instruction that never ends', '<?xml-stylesheet href="a"><r/>', 'not well-formed'],
  ['very many instructions', `${'<?x y?>'.repeat(5_001)}<r/>`, 'more than 5000 comments and CDATA sections'],
  ['another encoding', '<?xml version="1.0" encoding="UTF-7"?><r/>', 'not version 1.0 in UTF-8'],
  ['bytes that are no UTF-8', Buffer.from([0x3c, 0x72, 0x3e, 0xff, 0x3c, 0x2f, 0x72, 0x3e]), 'not UTF-8'],
  ['an attribute that stands twice', '<r a="1" a="2"/>', 'not well-formed'],
  ['two roots', '<r/><r/>', 'not well-formed'],
  ['an end of another element', '<r><a></r></a>', 'not well-formed'],
  ['an element that never ends', '<r><a>', 'not well-formed'],
  ['a tag that never ends', '<r a="b', 'not well-formed'],
  ['a prefix that nobody declared', '<a:r/>', 'not well-formed'],
  ['nothing', '', 'not well-formed'],
  ['text alone', 'hello', 'not well-formed'],
  ['text before the root', 'hello<r/>', 'not well-formed'],
  ['text behind the root', '<r/>hello', 'not well-formed'],
  ['an attribute of a prefix that nobody declared', '<r a:b=""/>', 'not well-formed'],
  ['an attribute without quotes', '<r a=b/>', 'not well-formed'],
  ['a bare ampersand', '<r>a & b</r>', 'not well-formed'],
  ...['&#0;', '&#x1;', '&#xD800;', '&#xFFFF;', '&#x110000;', '&#9999999;'].flatMap(
    (reference): [string, string, string][] => [
      [`${reference} in a text`, `<r>a${reference}</r>`, 'refers to a character that XML does not have'],
      [`${reference} in a value`, `<r a="${reference}"/>`, 'refers to a character that XML does not have'],
    ],
  ),
  ['a NUL', '<r>a\0b</r>', 'has a character that XML does not have'],
  ['half a surrogate pair', '<r><![CDATA[\ud800]]></r>', 'has a character that XML does not have'],
  ['a hundred levels', `${'<a>'.repeat(100)}${'</a>'.repeat(100)}`, 'more than 64 levels'],
  ['levels behind a > in a value', `${'<a b=">">'.repeat(100)}${'</a>'.repeat(100)}`, 'more than 64 levels'],
  ['very many elements', `<r>${'<a/>'.repeat(20_001)}</r>`, 'more than 20000 elements'],
  [
    'very many attributes',
    `<r ${Array.from({ length: 65 }, (_, i) => `a${i}=""`).join(' ')}/>`,
    'more than 64 attributes',
  ],
  ['very many attributes in all', `<r>${'<a b="" c="" d="" e=""/>'.repeat(15_001)}</r>`, 'more than 60000 attributes'],
  ['very many comments', `<r>${'<!---->'.repeat(5_001)}</r>`, 'more than 5000 comments and CDATA sections'],
  ['very many CDATA sections', `<r>${'<![CDATA[]]>'.repeat(5_001)}</r>`, 'more than 5000 comments and CDATA sections'],
  ['very many namespaces', nestedNamespaces(5, 13), 'more than 64 namespaces in one place'],
  ['a very long namespace', `<r xmlns:a='${'u'.repeat(257)}'/>`, 'more than 256 characters'],
  ['more than a megabyte', `<r>${' '.repeat(1024 * 1024)}</r>`, 'larger than'],
])('%s is refused', (_what, source, message) => {
  expect(refusal(source)).toContain(message);
});

test('processing instructions beside the element of metadata are skipped, in messages they are refused', () => {
  const source = '<?xml version="1.0"?><?xml-stylesheet href="a>b"?><!-- --><r a="1"/><?end?>';
  expect(parseXml(source, METADATA)).toMatchObject({ name: 'r', attributes: { a: '1' }, children: [], text: '' });
  expect(refusal(source, MESSAGE)).toContain('processing instruction');
});

test('bytes are read as the encoding that they declare', () => {
  const latin = Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><r>\u00fc</r>', 'latin1');
  expect(parseXml(latin, METADATA).text).toBe('ü');
  expect(parseXml(Buffer.from('<?xml version="1.0" encoding="US-ASCII"?><r>u</r>'), METADATA).text).toBe('u');
  // Text was decoded already.
  expect(parseXml('<?xml version="1.0" encoding="ISO-8859-1"?><r>ü</r>', METADATA).text).toBe('ü');
});

test('characters are read that are named by their numbers', () => {
  expect(parseXml('<r>&#9;&#x1F600;&#x10FFFF;<![CDATA[&#0;]]></r>', METADATA).text).toBe('\t\u{1F600}\u{10FFFF}&#0;');
});

test('a message may hold less than metadata', () => {
  expect(refusal(`<r>${'<a/>'.repeat(2000)}</r>`, MESSAGE)).toContain('more than 2000 elements');
  expect(refusal(`<r>${'<a b="" c="" d="" e=""/>'.repeat(1501)}</r>`, MESSAGE)).toContain('more than 6000 attributes');
  expect(refusal(`<r>${'<!---->'.repeat(1001)}</r>`, MESSAGE)).toContain('more than 1000 comments and CDATA sections');
  expect(refusal(`<r>${' '.repeat(128 * 1024)}</r>`, MESSAGE)).toContain('larger than 131072 bytes');
});

test('namespaces that many elements declare beside each other are read', () => {
  const value = '<v xmlns:xs="urn:xs" xmlns:xsi="urn:xsi" xsi:type="xs:string">staff</v>';
  expect(parseXml(`<r>${value.repeat(1000)}</r>`, MESSAGE).children).toHaveLength(1000);
  expect(parseXml(nestedNamespaces(4, 16), MESSAGE).name).toBe('a');
});

test('what is refused is refused quickly, however much of it there is', () => {
  const started = performance.now();
  for (const unit of ['<a>', '<!-- ', '<![CDATA[', '<a b="', '</', '<?', '&a;', '<a b="&a;', '<a xmlns:b="c">'])
    expect(refusal(unit.repeat(Math.floor((1024 * 1024 - 1) / unit.length)))).not.toBe('it was taken');
  expect(performance.now() - started).toBeLessThan(30_000);
});

test('text is UTF-8 with or without its mark', () => {
  expect(textOf(Buffer.from('\uFEFF<r/>'), METADATA)).toBe('<r/>');
});

// Read at each level it would take sixty times as long, each time; a noisy machine is not noisy at every try.
test('text deep within many elements is read once, and not once more at each level', { retry: 4 }, () => {
  const leaves = `<b>${'y'.repeat(45)}</b>`.repeat(19_900);
  const timed = (source: string) => {
    const began = performance.now();
    return { read: parseXml(source, METADATA), took: performance.now() - began };
  };
  timed(`<a>${leaves}</a>`);
  const flat = timed(`<a>${leaves}</a>`);
  const deep = timed('<a>'.repeat(62) + leaves + '</a>'.repeat(62));
  expect(flat.read).toMatchObject({ text: '', children: { length: 19_900 } });
  expect(flat.read.children[0]?.text).toBe('y'.repeat(45));
  expect(deep.took).toBeLessThan(3 * flat.took + 100);
});
