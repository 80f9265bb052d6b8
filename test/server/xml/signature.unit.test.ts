import { expect, test } from 'vitest';
import { METADATA, parseDocument, XmlError } from '../../../server/xml/document.ts';
import { readSigned } from '../../../server/xml/signature.ts';
import { metadataOf, SAML_CERTIFICATE, samlKeyPair, signedXml } from '../../support/saml.ts';

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
