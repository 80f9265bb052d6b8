import { createPrivateKey, createPublicKey } from 'node:crypto';
import { expect, test } from 'vitest';
import xmlCrypto from 'xml-crypto';
import { MESSAGE, METADATA, parseDocument, XmlError } from '../../../server/xml/document.ts';
import { readSigned } from '../../../server/xml/signature.ts';
import { certificateOf, metadataOf, SAML_CERTIFICATE, samlKeyPair, signedXml } from '../../support/saml.ts';
import { EXCLUSIVE, INCLUSIVE } from '../../support/worst-inputs.ts';

const pair = samlKeyPair();
const plain = metadataOf('https://wiki.example.com');
const evil = metadataOf('https://evil.example.com');
const good = signedXml(plain, pair.key);

const read = (text: string, certificate = pair.certificate) => {
  try {
    return readSigned(parseDocument(text, METADATA), [certificate]).attributes.entityID;
  } catch (error) {
    if (error instanceof XmlError) return error.message;
    throw error;
  }
};
const signatureOf = (text: string) => /<ds:Signature[\s\S]*<\/ds:Signature>/.exec(text)?.[0] ?? '';
const WRONG = 'The signature is not by this certificate’s key';
const PARTIAL = 'The signature is not one of the whole XML';

test('what a known key signed is read', () => {
  expect(read(good)).toBe('https://wiki.example.com');
  expect(read(`<?xml version="1.0"?>\n${good}`)).toBe('https://wiki.example.com');
});

test('what another key signed, or nobody, or what was changed since, is refused', () => {
  expect(read(good, SAML_CERTIFICATE)).toBe(WRONG);
  expect(read(plain)).toBe('The XML is not signed');
  expect(read(good.replace('/acs"', '/stolen"'))).toBe(WRONG);
  expect(read(signedXml(plain, samlKeyPair().key))).toBe(WRONG);
});

test.each([
  ['of 16,384 bits', 16_384, 'AQAB'],
  ['with an exponent of 64 bits', 2048, Buffer.alloc(8, 0xff).toString('base64url')],
])('a key %s, with which each message costs much, verifies none', (_, bits, e) => {
  const n = Buffer.alloc(bits / 8, 0xff).toString('base64url');
  const large = certificateOf(
    createPublicKey({ key: { kty: 'RSA', n, e }, format: 'jwk' }),
    createPrivateKey(pair.key),
  );
  expect(read(good, large)).toContain('not RSA of at most 8,192 bits');
  expect(readSigned(parseDocument(good, METADATA), [large, pair.certificate]).name).toBe('EntityDescriptor');
});

test('a signature by SHA-1 is refused', () => {
  expect(read(signedXml(plain, pair.key, 'http://www.w3.org/2000/09/xmldsig#rsa-sha1'))).toBe(WRONG);
});

test('a good signature that is moved into, around or beside something else makes nothing of it read', () => {
  const signature = signatureOf(good);
  const signed = good;
  const into = (outer: string, what: string) =>
    outer.replace('>\n  <md:SPSSODescriptor', `>${what}<md:SPSSODescriptor`);
  const renamed = evil.replace('ID="_1"', 'ID="_2"');
  // the signature alone, in a document of the same id and of another
  expect(read(into(evil, signature))).toBe(WRONG);
  expect(read(into(renamed, signature))).toBe(WRONG);
  // the signed document stands somewhere in the other, whose own signature it is said to be
  for (const where of [
    `<md:Extensions>${signed}</md:Extensions>`,
    `${signature}<md:Extensions>${signed.replace(signature, '')}</md:Extensions>`,
  ])
    expect([WRONG, PARTIAL, 'The XML is not signed']).toContain(read(into(renamed, where)));
  // in an object of the signature itself
  const wrapping = signature.replace(
    '</ds:Signature>',
    `<ds:Object>${signed.replace(signature, '')}</ds:Object></ds:Signature>`,
  );
  expect([WRONG, PARTIAL]).toContain(read(into(renamed, wrapping)));
  expect(read(into(signed, signature))).toBe('The XML has several signatures');
});

test('a comment in a value cuts nothing off', () => {
  const commented = signedXml(
    metadataOf('https://wiki.example.com', { inside: '<md:NameIDFormat>urn:a<!-- -->:b</md:NameIDFormat>' }),
    pair.key,
  );
  expect(readSigned(parseDocument(commented, METADATA), [pair.certificate]).children[0]?.children[0]?.text).toBe(
    'urn:a:b',
  );
  expect(read(good.replace('<md:SPSSODescriptor', '<!-- evil --><md:SPSSODescriptor'))).toBe(
    'https://wiki.example.com',
  );
});

const DS = 'http://www.w3.org/2000/09/xmldsig#';
const C14N_11 = 'http://www.w3.org/2006/12/xml-c14n11';
const changed = (from: string | RegExp, to: (found: string) => string) => good.replace(from, to);
const TRANSFORM = /<ds:Transform Algorithm="http:\/\/www.w3.org\/2001\/10\/xml-exc-c14n#"\/>/;

test.each([
  ['two references', changed(/<ds:Reference[\s\S]*<\/ds:Reference>/, (one) => one + one), 'has not one'],
  ['forty references', changed(/<ds:Reference[\s\S]*<\/ds:Reference>/, (one) => one.repeat(40)), 'more parts than one'],
  ['three transforms', changed(TRANSFORM, (one) => one + one), 'other transforms'],
  ['no transforms', changed(/<ds:Transforms>[\s\S]*<\/ds:Transforms>/, () => ''), 'has not one'],
  [
    'a transform by XPath',
    changed(/xml-exc-c14n#"\/><\/ds:Transforms>/, () => 'xpath"/></ds:Transforms>'),
    'not known',
  ],
  [
    'a canonicalisation by version 1.1',
    changed(/(?<=Transform Algorithm=")[^"]*xml-exc-c14n#/, () => C14N_11),
    'not known',
  ],
  ['the transforms the other way round', changed(/enveloped-signature/, () => 'other'), 'other transforms'],
  [
    'a list of 33 prefixes',
    changed(
      TRANSFORM,
      () =>
        `<ds:Transform Algorithm="${EXCLUSIVE}"><e:InclusiveNamespaces xmlns:e="${EXCLUSIVE}" PrefixList="${'a '.repeat(33)}"/></ds:Transform>`,
    ),
    'more than 32 namespaces',
  ],
  ['two values', changed(/<ds:SignatureValue>[\s\S]*<\/ds:SignatureValue>/, (one) => one + one), WRONG],
  ['two SignedInfo', changed(/<ds:SignedInfo>[\s\S]*<\/ds:SignedInfo>/, (one) => one + one), WRONG],
])('a signature with %s is refused by its shape, before its value', (_what, text, message) => {
  expect(text).not.toBe(good);
  expect(read(text)).toContain(message);
  // The same whoever signed it: nothing was verified, and so nothing digested.
  expect(read(text, SAML_CERTIFICATE)).toContain(message);
});

test.each<[string, { transforms: string[]; info?: string; algorithm?: string }]>([
  ['inclusively', { transforms: [INCLUSIVE] }],
  ['inclusively, as is the case without a word', { transforms: [] }],
  ['exclusively, SignedInfo inclusively', { transforms: [EXCLUSIVE], info: INCLUSIVE }],
  ['exclusively with comments', { transforms: [`${EXCLUSIVE}WithComments`], info: `${EXCLUSIVE}WithComments` }],
  ['inclusively with comments', { transforms: [`${INCLUSIVE}#WithComments`], info: `${INCLUSIVE}#WithComments` }],
  ['by SHA-512', { transforms: [EXCLUSIVE], algorithm: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512' }],
])('what is canonicalised %s is read, and what was changed since is not', (_how, { transforms, info, algorithm }) => {
  const signer = new xmlCrypto.SignedXml({
    privateKey: createPrivateKey(pair.key),
    signatureAlgorithm: algorithm ?? 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    canonicalizationAlgorithm: info ?? EXCLUSIVE,
  });
  signer.addReference({
    xpath: '/*/*[1]',
    transforms: [`${DS}enveloped-signature`, ...transforms],
    digestAlgorithm: 'http://www.w3.org/2001/04/xmlenc#sha512',
  });
  const text = `<r xmlns="urn:r" xmlns:a="urn:a" xmlns:b="urn:b">${metadataOf('https://wiki.example.com')}</r>`;
  signer.computeSignature(text, { prefix: 'ds', location: { reference: '/*/*[1]', action: 'append' } });
  const inside = (xml: string) =>
    readSigned(parseDocument(xml, METADATA), [SAML_CERTIFICATE, pair.certificate], 'EntityDescriptor');
  const signed = signer.getSignedXml();
  expect(inside(signed).attributes.entityID).toBe('https://wiki.example.com');
  expect(() => inside(signed.replace('/acs"', '/stolen"'))).toThrow(WRONG);
  expect(inside(signed.replace('<md:SPSSO', '<!-- said by nobody --><md:SPSSO'))).toEqual(inside(signed));
});

test('a response with 1,000 group values is within the limits of a message', () => {
  const value =
    '<saml:AttributeValue xmlns:xs="urn:xs" xmlns:xsi="urn:xsi" xsi:type="xs:string">a-group</saml:AttributeValue>';
  const response = signedXml(
    `<saml:Response xmlns:saml="urn:saml" ID="_1">${value.repeat(1000)}</saml:Response>`,
    pair.key,
  );
  const document = parseDocument(response, MESSAGE);
  expect(readSigned(document, [pair.certificate]).children).toHaveLength(1000);
  // The document is as it was: another signature in it may be read afterwards.
  expect(readSigned(document, [pair.certificate]).children).toHaveLength(1000);
});
