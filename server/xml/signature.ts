// Owns: the content that an XML signature covers, by a key that is known beforehand: callers read nothing that wasn't signed.
// Does not own: which key that is; well-formed text and its limits (document.ts), canonicalisation (xml-crypto).
// Implements: decisions "SAML client": RSA with SHA-256 or more, one reference, to the element that the signature stands in;
// XML Signature §3.2, in the order that costs least: the value over SignedInfo is verified before anything is digested.
import { constants, hash, type KeyObject, verify, X509Certificate } from 'node:crypto';
import type { Element } from '@xmldom/xmldom';
import xmlCrypto from 'xml-crypto';
import { childrenOf, parseXml, readElement, type Xml, type XmlDocument, XmlError, type XmlLimits } from './document.ts';

const SIGNATURES = 'http://www.w3.org/2000/09/xmldsig#';
const ENVELOPED = `${SIGNATURES}enveloped-signature`;
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const INCLUSIVE = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';

/** The limits of SignedInfo. Nine elements are usual; with a list of prefixes there are ten or eleven. */
const SIGNED_INFO: XmlLimits = { bytes: 32 * 1024, elements: 16, attributes: 64, sections: 0, instructions: false };
const MOST_PREFIXES = 32;
/** The most certificates of a provider or client: each may cost a verification. */
const MOST_CERTIFICATES = 10;
/** In bits. */
const LARGEST_KEY = 8192;
const LARGEST_EXPONENT = 2n ** 32n;

/** Other algorithms are no longer safe, or are for another kind of key. */
const signatureAlgorithms = new Map([
  ['http://www.w3.org/2001/04/xmldsig-more#rsa-sha256', { digest: 'sha256', pss: false }],
  ['http://www.w3.org/2001/04/xmldsig-more#rsa-sha512', { digest: 'sha512', pss: false }],
  ['http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1', { digest: 'sha256', pss: true }],
]);
const digestAlgorithms = new Map([
  ['http://www.w3.org/2001/04/xmlenc#sha256', 'sha256'],
  ['http://www.w3.org/2001/04/xmlenc#sha512', 'sha512'],
]);
/**
 * A reference to an element by its ID, or to the whole document, drops comments with any canonicalisation (XML Signature §4.4.3.3);
 * a SignedInfo with comments is refused, since its value is verified over the text without them.
 */
const canonicalisations = new Map([
  [EXCLUSIVE, xmlCrypto.ExclusiveCanonicalization],
  [`${EXCLUSIVE}WithComments`, xmlCrypto.ExclusiveCanonicalization],
  [INCLUSIVE, xmlCrypto.C14nCanonicalization],
  [`${INCLUSIVE}#WithComments`, xmlCrypto.C14nCanonicalization],
]);

interface Canonicalisation {
  algorithm: string;
  /** Prefixes of namespaces that exclusive canonicalisation keeps even if they are unused. */
  prefixes: readonly string[];
}
/** The content of a SignedInfo, as SAML 2.0 Core §5.4 permits it. */
interface SignedInfo {
  algorithm: string;
  uri: string;
  canonicalisation: Canonicalisation;
  digest: string;
  digestValue: Buffer;
}

const notByKey = (cause?: unknown) => new XmlError('The signature is not by this certificate’s key', { cause });
const notWhole = () => new XmlError('The signature is not one of the whole XML');

/** The RSA keys of PEM certificates. @throws XmlError if there is none */
export function keysOf(certificates: readonly string[]): KeyObject[] {
  const keys = certificates
    .slice(0, MOST_CERTIFICATES)
    .map((certificate) => new X509Certificate(certificate).publicKey)
    .filter(isUsable);
  if (keys.length === 0) throw new XmlError('The certificate’s key is not RSA of at most 8,192 bits');
  return keys;
}

/**
 * Whether the key may verify messages, which anybody can send: with a key of 16,384 bits and a long exponent that takes
 * 6 ms.
 */
function isUsable({ asymmetricKeyType, asymmetricKeyDetails: details }: KeyObject): boolean {
  const { modulusLength = 0, publicExponent = 0n } = details ?? {};
  return asymmetricKeyType === 'rsa' && modulusLength <= LARGEST_KEY && publicExponent <= LARGEST_EXPONENT;
}

/** Whether one of the keys has signed the text by a safe algorithm of XML Signature. */
export function isSignedBy(keys: readonly KeyObject[], algorithm: string, text: string, signature: Buffer): boolean {
  const known = signatureAlgorithms.get(algorithm);
  if (!known) return false;
  const padding = known.pss ? constants.RSA_PKCS1_PSS_PADDING : constants.RSA_PKCS1_PADDING;
  return keys.some((key) => verify(known.digest, Buffer.from(text), { key, padding }, signature));
}

/**
 * The signed root element, parsed again from the very text that the signature covers, so that no unsigned content is read.
 * @param certificates one of their keys must have signed the element
 * @param inside the name of the root's child, if that child has the signature and is to be read
 * @throws XmlError
 */
export function readSigned(
  { root: whole, limits }: XmlDocument,
  certificates: readonly string[],
  inside?: string,
): Xml {
  const root = inside === undefined ? whole : onlyChild(whole, inside);
  const [signature, second] = childrenOf(root).filter((child) => isOf(child, 'Signature'));
  if (!signature) throw new XmlError('The XML is not signed');
  if (second) throw new XmlError('The XML has several signatures');
  const { uri, canonicalisation, digest, digestValue } = verifiedInfo(signature, keysOf(certificates));
  if (uri !== '' && idsIn(whole, uri.slice(1)) !== 1) throw notByKey();
  if (uri === '' ? root !== whole : uri !== `#${idOf(root)}`) throw notWhole();
  const covered = canonicalWithout(signature, root, canonicalisation);
  if (!hash(digest, covered, 'buffer').equals(digestValue)) throw notByKey();
  const read = parseXml(covered, limits);
  if (read.name !== root.localName || read.namespace !== (root.namespaceURI ?? '')) throw notWhole();
  return read;
}

function onlyChild(root: Element, name: string): Element {
  const [child, another] = childrenOf(root).filter(({ localName }) => localName === name);
  if (!child || another) throw new XmlError(`The XML has not one ${name}`);
  return child;
}

const isOf = ({ localName, namespaceURI }: Element, name: string): boolean =>
  localName === name && namespaceURI === SIGNATURES;
const idOf = (element: Element): string | undefined =>
  Array.from(element.attributes).find(({ name }) => name === 'ID')?.value;

/** The number of elements with this ID: a forger could add a second one that is read in place of the first. */
function idsIn(element: Element, id: string): number {
  const own = Array.from(element.attributes).filter(
    ({ localName, value }) => ['ID', 'Id', 'id'].includes(localName) && value === id,
  ).length;
  return childrenOf(element).reduce((sum, child) => sum + idsIn(child, id), own);
}

/** Verifies SignedInfo with the keys, and reads it from the very text that the signature value covers. @throws XmlError */
function verifiedInfo(signature: Element, keys: readonly KeyObject[]): SignedInfo {
  const infos = childrenOf(signature).filter((child) => isOf(child, 'SignedInfo'));
  const values = childrenOf(signature).filter((child) => isOf(child, 'SignatureValue'));
  const [info, value] = [infos[0], values[0]];
  if (!info || !value || infos.length + values.length !== 2) throw notByKey();
  if (elementsIn(info) > SIGNED_INFO.elements)
    throw new XmlError('The signature has more parts than one reference needs');
  const [method] = childrenOf(info);
  if (!method || !isOf(method, 'CanonicalizationMethod')) throw notByKey();
  const text = canonical(info, canonicalisationOf(readElement(method)));
  const said = signedInfoOf(parseXml(text, SIGNED_INFO));
  if (!isSignedBy(keys, said.algorithm, text, Buffer.from(value.textContent ?? '', 'base64'))) throw notByKey();
  return said;
}

/** The number of elements, including the element itself; counting stops soon after the limit of SignedInfo. */
function elementsIn(element: Element): number {
  let count = 1;
  for (const child of childrenOf(element)) {
    count += elementsIn(child);
    if (count > SIGNED_INFO.elements) break;
  }
  return count;
}

/** @throws XmlError if SignedInfo has other parts than those of one reference */
function signedInfoOf(info: Xml): SignedInfo {
  const [, method, reference] = partsOf(info, ['CanonicalizationMethod', 'SignatureMethod', 'Reference']);
  const [transforms, digestMethod, digestValue] = partsOf(reference, ['Transforms', 'DigestMethod', 'DigestValue']);
  const [enveloped, then, third] = transforms?.children ?? [];
  if (enveloped?.name !== 'Transform' || enveloped.attributes.Algorithm !== ENVELOPED || third)
    throw new XmlError('The signature has other transforms than the enveloped signature and one canonicalisation');
  const digest = digestAlgorithms.get(digestMethod?.attributes.Algorithm ?? '');
  if (!digest || (method?.children.length ?? 0) > 0) throw notByKey();
  return {
    algorithm: method?.attributes.Algorithm ?? '',
    uri: reference?.attributes.URI ?? '',
    // XML Signature §4.3.3.2: without a canonicalisation as the last transform, the inclusive one applies.
    canonicalisation: then ? canonicalisationOf(then) : { algorithm: INCLUSIVE, prefixes: [] },
    digest,
    digestValue: Buffer.from(digestValue?.text ?? '', 'base64'),
  };
}

/** The children, which must have these names in this order. */
function partsOf(at: Xml | undefined, names: readonly string[]): Xml[] {
  const children = [...(at?.children ?? [])];
  const isLike = children.length === names.length;
  if (!isLike || !children.every(({ name, namespace }, i) => name === names[i] && namespace === SIGNATURES))
    throw new XmlError(`The ${at?.name ?? 'signature'} has not one ${names.join(', one ')}`);
  return children;
}

function canonicalisationOf({ attributes, children }: Xml): Canonicalisation {
  const { Algorithm: algorithm = '' } = attributes;
  const [list, another] = children;
  const isList = list === undefined || (list.name === 'InclusiveNamespaces' && list.namespace === EXCLUSIVE);
  if (!canonicalisations.has(algorithm) || !isList || another)
    throw new XmlError('The signature has a canonicalisation that is not known');
  const prefixes = (list?.attributes.PrefixList ?? '').split(/\s+/).filter((prefix) => prefix !== '');
  if (prefixes.length > MOST_PREFIXES) throw new XmlError(`The signature keeps more than ${MOST_PREFIXES} namespaces`);
  return { algorithm, prefixes };
}

/**
 * Stands for an empty list in xml-crypto, which would otherwise search the element itself for one; no prefix can have
 * this name.
 */
const NO_PREFIX = '#default';

/** The canonical text, without comments. */
function canonical(element: Element, { algorithm, prefixes }: Canonicalisation): string {
  const By = canonicalisations.get(algorithm);
  if (!By) throw notByKey();
  return new By().process(element, {
    inclusiveNamespacesPrefixList: [NO_PREFIX, ...prefixes],
    ancestorNamespaces: namespacesAround(element),
  });
}

/** The transform of an enveloped signature. Afterwards the element is whole again, since another signature may cover it too. */
function canonicalWithout(signature: Element, root: Element, by: Canonicalisation): string {
  const { nextSibling } = signature;
  root.removeChild(signature);
  try {
    return canonical(root, by);
  } finally {
    root.insertBefore(signature, nextSibling);
  }
}

/** The namespaces in force around an element that it doesn't declare itself, or needs itself. */
function namespacesAround(element: Element): { prefix: string; namespaceURI: string }[] {
  const own = declaredBy(element).map(({ prefix }) => prefix);
  const seen = new Set([...own, element.prefix ?? '']);
  const found = [];
  for (let at = element.parentNode; at?.nodeType === 1; at = at.parentNode)
    for (const one of declaredBy(at)) {
      if (!seen.has(one.prefix) && one.namespaceURI !== '') found.push(one);
      seen.add(one.prefix);
    }
  return found;
}

const declaredBy = ({ attributes }: Pick<Element, 'attributes'>) =>
  Array.from(attributes)
    .filter(({ name }) => name === 'xmlns' || name.startsWith('xmlns:'))
    .map(({ name, value }) => ({ prefix: name.slice('xmlns:'.length), namespaceURI: value }));
