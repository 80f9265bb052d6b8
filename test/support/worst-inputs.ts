// Owns: the worst that a stranger may send: XML whose signature costs much, bodies and parameters of very many parts, tokens.
// Does not own: where it is sent and what it may cost (test/server/http/worst-inputs*.test.ts), the limits.
// Implements: tests that no request stalls the server for others.
import { createPrivateKey, sign } from 'node:crypto';
import { signedXml } from './saml.ts';

export const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';
export const INCLUSIVE = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';
const DS = 'http://www.w3.org/2000/09/xmldsig#';

/** One unit again and again, up to so many bytes. */
export const repeatedTo = (unit: string, bytes: number, most = Number.POSITIVE_INFINITY): string =>
  unit.repeat(Math.max(0, Math.min(most, Math.floor(bytes / unit.length))));

/** The signature's reference, repeated. */
export const repeatedReference = (signed: string, times: number): string =>
  signed.replace(/<ds:Reference[\s\S]*<\/ds:Reference>/, (reference) => reference.repeat(times));

/** A signature that is valid over SignedInfo, but whose digest is wrong: it is copied from another message of the key's owner. */
export function borrowedSignature(key: string, id: string, { by = EXCLUSIVE, inside = '' } = {}): string {
  const info = `<ds:SignedInfo xmlns:ds="${DS}"><ds:CanonicalizationMethod Algorithm="${EXCLUSIVE}"></ds:CanonicalizationMethod><ds:SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"></ds:SignatureMethod><ds:Reference URI="#${id}"><ds:Transforms><ds:Transform Algorithm="${DS}enveloped-signature"></ds:Transform><ds:Transform Algorithm="${by}">${inside}</ds:Transform></ds:Transforms><ds:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"></ds:DigestMethod><ds:DigestValue>${'A'.repeat(43)}=</ds:DigestValue></ds:Reference></ds:SignedInfo>`;
  const value = sign('sha256', Buffer.from(info), createPrivateKey(key)).toString('base64');
  return `<ds:Signature xmlns:ds="${DS}">${info}<ds:SignatureValue>${value}</ds:SignatureValue></ds:Signature>`;
}
const prefixList = (count: number): string =>
  `<ec:InclusiveNamespaces xmlns:ec="${EXCLUSIVE}" PrefixList="${Array.from({ length: count }, (_, i) => `p${i}`).join(' ')}"></ec:InclusiveNamespaces>`;

const declared = (count: number, length: number): string =>
  Array.from({ length: count }, (_, i) => ` xmlns:p${i}="${'u'.repeat(length)}${i}"`).join('');

/** Contents of a message's element, by the work that they should cause: attributes of the root, and its content. */
const contents = (bytes: number): Record<string, { attributes?: string; content?: string }> => ({
  'as many elements as fit': { content: repeatedTo('<a/>', bytes) },
  'as many elements as are read': { content: repeatedTo('<a/>', bytes, 1_950) },
  'elements and text': { content: repeatedTo('<a>x</a>y', bytes, 1_950) },
  'long elements': { content: repeatedTo('<saml:AttributeValue>xxxxxxxxxxxxxxx</saml:AttributeValue>', bytes, 1_950) },
  'many namespaces, long, each used again and again': {
    attributes: declared(56, 240),
    content: repeatedTo(
      Array.from({ length: 56 }, (_, i) => `<p${i}:b p${(i + 1) % 56}:a=""/>`).join(''),
      bytes - 15_000,
      34,
    ),
  },
  'a namespace that each level changes': {
    content: `${Array.from({ length: 50 }, (_, i) => `<a xmlns:p="u${i}" p:z="">`).join('')}${repeatedTo('<p:b p:a="" p:b=""/>', bytes - 3_000, 1_850)}${'</a>'.repeat(50)}`,
  },
  'many attributes': {
    content: repeatedTo(`<a ${Array.from({ length: 60 }, (_, i) => `a${59 - i}=""`).join(' ')}/>`, bytes, 98),
  },
  'more attributes than are read': {
    content: repeatedTo(`<a ${Array.from({ length: 60 }, (_, i) => `a${59 - i}=""`).join(' ')}/>`, bytes),
  },
  comments: { content: repeatedTo('<!---->', bytes) },
  'CDATA sections': { content: repeatedTo('<![CDATA[x]]>', bytes, 990) },
  'character references': { content: repeatedTo('&#13;', bytes) },
  'references in an attribute': { attributes: ` t="${repeatedTo('&#9;', bytes)}"` },
  'one long text': { content: repeatedTo('x', bytes) },
  'a very deep tree': { content: '<a>'.repeat(60) + repeatedTo('<b/>', bytes - 500, 1_900) + '</a>'.repeat(60) },
  'more levels than are read': { content: repeatedTo('<a>', bytes) },
  'ends without beginnings': { content: repeatedTo('</a>', bytes) },
  'brackets alone': { content: repeatedTo('<', bytes) },
  'whitespace in a tag': { content: `<a${repeatedTo(' ', bytes)}/>` },
  'whitespace in an end': { content: `<a></a${repeatedTo(' ', bytes)}x>` },
  'very many namespaces': { content: repeatedTo('<a xmlns:n="u">', bytes) },
});

export type Around = (inside: string, attributes: string) => string;
/**
 * Messages of at most so many bytes. `around` writes a message with something inside, whose ID is `id`; the sender has a key of its own, and
 * a message that the owner of `known` has signed.
 */
export function worstMessages(
  around: Around,
  { id, bytes, own, known }: { id: string; bytes: number; own: string; known: string },
): [string, string][] {
  const room = bytes - around('', '').length - 2_600;
  const digests = (elements: number, times: number) =>
    repeatedReference(signedXml(around('<a/>'.repeat(elements), ''), own), times);
  const made: [string, string][] = [
    ['a reference 40 times over 3,000 elements', digests(3_000, 40)],
    ['a reference 40 times over as many elements as are read', digests(1_300, 40)],
    ['one reference over 15,000 elements', digests(15_000, 1)],
    ['a list of very many prefixes', around(borrowedSignature(known, id, { inside: prefixList(2_000) }), '')],
    ['very many signatures', around(repeatedTo(`<ds:Signature xmlns:ds="${DS}"/>`, room), '')],
    [
      'very many objects in the signature',
      around(`<ds:Signature xmlns:ds="${DS}">${repeatedTo('<ds:Object/>', room, 1_900)}</ds:Signature>`, ''),
    ],
    [
      'a very long key info',
      around(
        `<ds:Signature xmlns:ds="${DS}"><ds:KeyInfo>${repeatedTo('<ds:X509Data><ds:X509Certificate>AAAA</ds:X509Certificate></ds:X509Data>', room, 900)}</ds:KeyInfo></ds:Signature>`,
        '',
      ),
    ],
  ];
  for (const [what, { attributes = '', content = '' }] of Object.entries(contents(room))) {
    made.push([what, around(content, attributes)]);
    for (const [how, options] of [
      ['exclusive', {}],
      ['inclusive', { by: INCLUSIVE }],
      ['with a list of prefixes', { inside: prefixList(32) }],
    ] as const)
      made.push([
        `${what}, a borrowed signature, ${how}`,
        around(borrowedSignature(known, id, options) + content, attributes),
      ]);
  }
  return made.filter(([, text]) => text.length <= bytes);
}

/** Names that are all different, each of four characters. */
const names = (count: number): string[] => Array.from({ length: count }, (_, i) => (i + 46_656).toString(36));

const bodiesOf = (bytes: number) => ({
  form: {
    'very many fields': names(bytes / 6).join('=&'),
    'as many fields as are read': `${names(1_000).join('=&')}=${repeatedTo('%25', bytes - 6_000)}`,
    'one field very often': repeatedTo('a=&', bytes),
    'very many resources': repeatedTo('resource=https://a&', bytes),
    'percent signs': `a=${repeatedTo('%25', bytes - 2)}`,
    'plus signs': `a=${repeatedTo('+', bytes - 2)}`,
    'broken percent signs': `a=${repeatedTo('%', bytes - 2)}`,
    'separators alone': repeatedTo('&', bytes),
  },
  json: {
    'very many members': `{${names((bytes - 2) / 9)
      .map((name) => `"${name}":0`)
      .join(',')}}`,
    'very many arrays': `[${repeatedTo('[],', bytes - 4)}[]]`,
    'very many objects': `[${repeatedTo('{"a":{}},', bytes - 4)}[]]`,
    'very many texts': `[${repeatedTo('"",', bytes - 4)}""]`,
    'a very deep array': '['.repeat(bytes / 2) + ']'.repeat(bytes / 2),
    'a very deep object': `${repeatedTo('{"a":', bytes - 6 * 10_000, 10_000)}0${'}'.repeat(10_000)}`,
    escapes: `["${repeatedTo('\\u0041', bytes - 4)}"]`,
    'a very long number': repeatedTo('1', bytes),
  },
});
export type BodyKind = keyof ReturnType<typeof bodiesOf>;
/** The worst bodies of so many bytes. */
export const worstBodies = (kind: BodyKind, bytes: number): [string, string][] => Object.entries(bodiesOf(bytes)[kind]);

const encoded = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/**
 * Forged tokens of at most this many bytes.
 * @param claims name the alleged issuer, so that the server looks it up
 */
export function worstTokens(bytes: number, claims: object = {}): [string, string][] {
  const room = Math.floor((bytes * 3) / 4) - 800;
  const jws = (header: object | string, payload: object | string = claims, signature = 'AAAA') =>
    `${encoded(header)}.${encoded(payload)}.${signature}`;
  const rsa = (bits: number, e: string) => ({ kty: 'RSA', e, n: Buffer.alloc(bits / 8, 0xff).toString('base64url') });
  const embedded = (jwk: object, alg = 'RS256') => jws({ typ: 'dpop+jwt', alg, jwk }, claims, 'A'.repeat(340));
  return [
    ['dots alone', repeatedTo('.', bytes)],
    ['very many parts', repeatedTo('a.', bytes)],
    ['a very long header', jws({ alg: 'RS256', x: repeatedTo('x', room) })],
    [
      'very many members in the header',
      jws(
        `{"alg":"RS256",${names(room / 10)
          .map((n) => `"${n}":0`)
          .join(',')}}`,
      ),
    ],
    ['a very deep header', jws(repeatedTo('{"a":', room, 10_000))],
    ['very many critical extensions', jws({ alg: 'RS256', crit: names(room / 8) })],
    ['very many certificates', jws({ alg: 'RS256', x5c: repeatedTo('MIIB ', room).trim().split(' ') })],
    ['a very deep payload', jws({ alg: 'RS256' }, `${repeatedTo('[', room / 2)}${repeatedTo(']', room / 2)}`)],
    ['very many audiences', jws({ alg: 'RS256' }, { ...claims, aud: names(room / 8) })],
    ['a very long signature', jws({ alg: 'RS256', typ: 'JWT' }, claims, repeatedTo('A', bytes - 900))],
    [
      'an algorithm that derives a key very often',
      `${encoded({ alg: 'PBES2-HS512+A256KW', enc: 'A256GCM', p2c: 2_147_483_647, p2s: 'AAAAAAAAAAAA' })}.AAAA.AAAA.AAAA.AAAA`,
    ],
    [
      'one that inflates',
      `${encoded({ alg: 'dir', enc: 'A256GCM', zip: 'DEF' })}..AAAA.${repeatedTo('A', bytes - 200)}.AAAA`,
    ],
    ['a key of 16,384 bits', embedded(rsa(16_384, 'AQAB'))],
    ['a key of more bits than any', embedded(rsa(Math.min(80_000, Math.floor(room / 2) * 8), 'AQAB'))],
    [
      'a key of 3,072 bits with as long an exponent',
      embedded(rsa(3_072, Buffer.alloc(384, 0xff).toString('base64url'))),
    ],
    ['a key whose exponent is longer than any', embedded(rsa(2_048, repeatedTo('_', room / 2)))],
    ['a curve that is unknown', embedded({ kty: 'EC', crv: repeatedTo('P', room / 2), x: 'AA', y: 'AA' }, 'ES256')],
  ];
}
