// Owns: forgeries of signed XML: the eight published shapes of signature wrapping, and worthless signatures.
// Does not own: the signed XML (saml-provider.ts, authn-requests.ts), the checks of the answers.
// Implements: tests of SAML; the shapes are those of "On Breaking SAML" (USENIX Security 2012), by the numbers that testers know.
import { macXml, samlKeyPair, signedXml } from './saml.ts';

type Shape = [string, () => string];
type Make = () => string;
/** Without a signature, by its ID. */
type Evil = (id: string) => string;

export const SIGNED_ID = '_good';
const signatureOf = (text: string): string => /<ds:Signature[\s\S]*<\/ds:Signature>/.exec(text)?.[0] ?? '';
const bare = (text: string): string => text.replace(signatureOf(text), '');
const atEnd = (text: string, what: string): string => text.replace(/<\/[\w:]+>$/, (end) => `${what}${end}`);
export const afterIssuer = (text: string, what: string): string =>
  text.replace('</saml:Issuer>', `</saml:Issuer>${what}`);
const inSignature = (text: string, what: string): string =>
  signatureOf(text).replace(/<\/ds:Signature>$/, `${what}</ds:Signature>`);
export const extensions = (what: string): string => `<samlp:Extensions>${what}</samlp:Extensions>`;

/** Of a message that is signed as a whole. */
export const wrappedMessages = (good: Make, evil: Evil): Shape[] =>
  ['_evil', SIGNED_ID].flatMap((id): Shape[] => {
    const like = id === SIGNED_ID ? ', of the same ID' : '';
    return [
      [`1, inside the signature${like}`, () => afterIssuer(evil(id), inSignature(good(), bare(good())))],
      [`2, beside the signature${like}`, () => afterIssuer(evil(id), bare(good()) + signatureOf(good()))],
    ];
  });

/** Of an element that is signed by itself, in a message `around` it. */
export const wrappedElements = (good: Make, evil: Evil, around: (inside: string) => string): Shape[] => [
  ['3, a forged one before it', () => around(evil('_evil') + good())],
  ['3, a forged one behind it', () => around(good() + evil('_evil'))],
  ['4, inside a forged one', () => around(atEnd(evil('_evil'), good()))],
  [
    '5, its signature in a forged one, itself behind',
    () => around(afterIssuer(evil('_evil'), signatureOf(good())) + bare(good())),
  ],
  [
    '6, inside the signature in a forged one',
    () => around(afterIssuer(evil('_evil'), inSignature(good(), bare(good())))),
  ],
  ['7, a forged one of the same ID among extensions', () => around(extensions(evil(SIGNED_ID)) + good())],
  [
    '8, in an object of the signature in a forged one of the same ID',
    () => around(afterIssuer(evil(SIGNED_ID), inSignature(good(), `<ds:Object>${bare(good())}</ds:Object>`))),
  ],
];

const RSA_SHA256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
const SHA1 = 'http://www.w3.org/2000/09/xmldsig#sha1';
const forger = samlKeyPair();
const contentOf = (certificate: string): string => certificate.replaceAll(/-----[A-Z ]+-----|\s/g, '');

/** Signatures that prove nothing, over `make`. */
export function worthlessSignatures(make: Make, { key, certificate }: { key: string; certificate: string }): Shape[] {
  const signed = () => signedXml(make(), key);
  const method = (algorithm: string) => signed().replace(RSA_SHA256, algorithm);
  return [
    ['SHA-1', () => signedXml(make(), key, 'http://www.w3.org/2000/09/xmldsig#rsa-sha1')],
    ['RSA with SHA-256 over a SHA-1 digest', () => signedXml(make(), key, RSA_SHA256, SHA1)],
    ['a MAC under the certificate', () => macXml(make(), certificate)],
    ['a MAC under nothing', () => macXml(make(), '')],
    ['an algorithm “none”', () => method('none').replace(/<ds:SignatureValue>[^<]*/, '<ds:SignatureValue>')],
    ['no algorithm', () => method('').replace(/<ds:SignatureValue>[^<]*/, '<ds:SignatureValue>')],
    [
      'another’s key, which it brings along',
      () =>
        signedXml(make(), forger.key).replace(
          '</ds:Signature>',
          `<ds:KeyInfo><ds:X509Data><ds:X509Certificate>${contentOf(forger.certificate)}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></ds:Signature>`,
        ),
    ],
    ['no reference', () => signed().replace(/<ds:Reference[\s\S]*<\/ds:Reference>/, '')],
    ['a reference to nothing', () => signed().replace(/URI="#[^"]*"/, 'URI=""')],
    ['a reference elsewhere', () => signed().replace(/URI="#[^"]*"/, 'URI="https://evil.example/"')],
    ['the signature twice', () => afterIssuer(signed(), signatureOf(signed()))],
    [
      'something in an object of the signature',
      () =>
        signed()
          .replace('</ds:Signature>', '<ds:Object><evil xmlns=""/></ds:Object></ds:Signature>')
          .replace('Version', 'Consent="x" Version'),
    ],
  ];
}
