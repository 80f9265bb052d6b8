// Owns: what a signature in XML covers, by a key that is known beforehand: who reads that reads nothing that wasn't signed.
// Does not own: which key that is; well-formed text (document.ts), the algorithms themselves (xml-crypto).
// Implements: decisions "SAML client": RSA with SHA-256 or more, one reference, to the element that the signature stands in.
import { X509Certificate } from 'node:crypto';
import type { Element } from '@xmldom/xmldom';
import xmlCrypto from 'xml-crypto';
import { childrenOf, parseDom, parseXml, type Xml, XmlError } from './document.ts';

const SIGNATURES = 'http://www.w3.org/2000/09/xmldsig#';
const ENVELOPED = `${SIGNATURES}enveloped-signature`;
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const INCLUSIVE = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';

/** Whatever the library knows beside these is no longer safe, or is for somebody else's keys. */
const allowed = {
  SignatureAlgorithms: [
    'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
    'http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1',
  ],
  HashAlgorithms: ['http://www.w3.org/2001/04/xmlenc#sha256', 'http://www.w3.org/2001/04/xmlenc#sha512'],
  CanonicalizationAlgorithms: [ENVELOPED, EXCLUSIVE, INCLUSIVE],
} as const;

/**
 * The root element as it was signed: read again from the very text that the signature covers, so that nothing else is read.
 * @param inside the name of the root's one child that is signed by itself, where that is to be read
 * @throws XmlError
 */
export function readSigned(text: string, certificate: string, inside?: string): Xml {
  const root = inside === undefined ? parseDom(text) : onlyChild(parseDom(text), inside);
  const [signature, second] = childrenOf(root).filter(isSignature);
  if (!signature) throw new XmlError('The XML is not signed');
  if (second) throw new XmlError('The XML has several signatures');
  const { publicKey } = new X509Certificate(certificate);
  if (publicKey.asymmetricKeyType !== 'rsa') throw new XmlError('The certificate’s key is not RSA');
  const signed = new xmlCrypto.SignedXml({ publicCert: publicKey, getCertFromKeyInfo: () => null });
  for (const [table, names] of Object.entries(allowed)) keepOnly(Reflect.get(signed, table), names);
  const covered = verified(signed, text, signature);
  const id = Array.from(root.attributes).find(({ name }) => name === 'ID')?.value;
  const [reference, another] = signed.getReferences();
  if (another || !reference || (reference.uri !== '' && (id === undefined || reference.uri !== `#${id}`)))
    throw new XmlError('The signature is not one of the whole XML');
  const read = parseXml(covered);
  if (read.name !== root.localName || read.namespace !== (root.namespaceURI ?? ''))
    throw new XmlError('The signature is not one of the whole XML');
  return read;
}

function onlyChild(root: Element, name: string): Element {
  const [child, another] = childrenOf(root).filter(({ localName }) => localName === name);
  if (!child || another) throw new XmlError(`The XML has not one ${name}`);
  return child;
}

const isSignature = ({ localName, namespaceURI }: { localName: string; namespaceURI: string | null }) =>
  localName === 'Signature' && namespaceURI === SIGNATURES;

function keepOnly(table: Record<string, unknown>, names: readonly string[]): void {
  for (const name of Object.keys(table)) if (!names.includes(name)) delete table[name];
}

function verified(
  signed: InstanceType<typeof xmlCrypto.SignedXml>,
  text: string,
  signature: Parameters<typeof signed.loadSignature>[0],
): string {
  let whole = false;
  try {
    signed.loadSignature(signature);
    whole = signed.checkSignature(text);
  } catch (error) {
    throw new XmlError('The signature is not by this certificate’s key', { cause: error });
  }
  const [covered] = signed.getSignedReferences();
  if (!whole || covered === undefined) throw new XmlError('The signature is not by this certificate’s key');
  return covered;
}
