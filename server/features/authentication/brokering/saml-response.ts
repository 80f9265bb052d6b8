// Reads and validates an identity provider's SAML response, pure. It reads only what the signature covers. SAML 2.0 Core
// §2.3, §3.2; Profiles §4.1.4.3.
import type { KeyObject } from 'node:crypto';
import { ASSERTION, PROTOCOL, SUCCESS } from '../../../domain/saml-names.ts';
import { childrenIn } from '../../../xml/children.ts';
import { decrypted } from '../../../xml/decrypt.ts';
import { MESSAGE, parseDocument, parseXml, type Xml, type XmlDocument, XmlError } from '../../../xml/document.ts';
import { readSigned } from '../../../xml/signature.ts';
import { UpstreamError } from './upstream.ts';

const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
const SKEW_MS = 60_000;
const LONGEST_NAME = 1000;

export interface Expected {
  entityId: string;
  certificates: readonly string[];
  /** This realm's entity id at the provider. */
  audience: string;
  callback: string;
  /** The keys that the assertion may be encrypted for. */
  keys: readonly KeyObject[];
  mustBeEncrypted: boolean;
  now: Date;
}
export interface SamlAssertion {
  /** The id of the assertion. */
  id: string;
  /** Until when the assertion could be accepted, in milliseconds. */
  until: number;
  /** The id of the request that it answers. */
  inResponseTo: string;
  subject: string;
  /** Milliseconds. */
  provenAt: number;
  claims: Record<string, string | string[]>;
  /** The provider's id of the session, and the attributes of the name in its NameID. */
  sessionIndex: string | undefined;
  nameId: Record<string, string>;
}

const of = childrenIn(ASSERTION);
const only = (at: Xml, name: string, namespace = ASSERTION): Xml => {
  const [one, another] = of(at, name, namespace);
  if (!one || another) throw new UpstreamError(`saml-not-one-${name.toLowerCase()}`);
  return one;
};
const wrong = (what: string) => new UpstreamError(`saml-${what}`);

/** @param message the field of the form. @throws UpstreamError */
export function readResponse(message: string, expected: Expected): SamlAssertion {
  const document = documentIn(message);
  const response = document.xml;
  if (response.name !== 'Response' || response.namespace !== PROTOCOL) throw wrong('no-response');
  const code = of(only(response, 'Status', PROTOCOL), 'StatusCode', PROTOCOL)[0]?.attributes.Value;
  if (code !== SUCCESS) throw wrong(`status-${(code ?? '').split(':').at(-1)?.replace(/\W/g, '').slice(0, 40)}`);
  const { Destination: destination } = response.attributes;
  if (destination !== undefined && destination !== expected.callback) throw wrong('destination');
  if (of(response, 'EncryptedAssertion').length > 0) return said(encryptedAssertion(document, expected), expected);
  if (expected.mustBeEncrypted) throw wrong('not-encrypted');
  return said(signedAssertion(document, expected.certificates), expected);
}

/** The result of a reader that verifies a signature; undefined: no certificate matches. */
function ifSigned<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof XmlError || error instanceof UpstreamError)) throw error;
    return undefined;
  }
}
const isAssertion = ({ name, namespace }: Xml): boolean => name === 'Assertion' && namespace === ASSERTION;

/** A signature around the encrypted assertion counts; otherwise the one inside it must be valid. */
function encryptedAssertion(document: XmlDocument, { certificates, keys }: Expected): Xml {
  if (of(document.xml, 'Assertion').length > 0) throw wrong('not-one-assertion');
  const whole = ifSigned(() => readSigned(document, certificates));
  const around = only(whole ?? document.xml, 'EncryptedAssertion');
  const plain = xmlOf(() => decrypted(around, keys, { signed: whole !== undefined }), 'undecipherable');
  const assertion = whole
    ? xmlOf(() => parseXml(plain, MESSAGE))
    : ifSigned(() => readSigned(parseDocument(plain, MESSAGE), certificates));
  if (!assertion || !isAssertion(assertion)) throw wrong('signature');
  return assertion;
}

/** The assertion's own signature counts, or that of the response around it. */
function signedAssertion(document: XmlDocument, certificates: readonly string[]): Xml {
  const assertion =
    ifSigned(() => readSigned(document, certificates, 'Assertion')) ??
    ifSigned(() => only(readSigned(document, certificates), 'Assertion'));
  if (assertion && isAssertion(assertion)) return assertion;
  throw wrong('signature');
}

function said(assertion: Xml, { entityId, audience, callback, now }: Expected): SamlAssertion {
  const at = now.getTime();
  const isOver = (until: string | undefined) => !(Date.parse(until ?? '') + SKEW_MS > at);
  const isEarly = (from: string | undefined) => from !== undefined && !(Date.parse(from) - SKEW_MS <= at);
  if (only(assertion, 'Issuer').text.trim() !== entityId) throw wrong('issuer');
  const conditions = only(assertion, 'Conditions');
  const { NotBefore: from, NotOnOrAfter: until } = conditions.attributes;
  if (isEarly(from) || (until !== undefined && isOver(until))) throw wrong('time');
  const audiences = of(conditions, 'AudienceRestriction');
  if (
    audiences.length === 0 ||
    !audiences.every((one) => of(one, 'Audience').some(({ text }) => text.trim() === audience))
  )
    throw wrong('audience');
  const subject = only(assertion, 'Subject');
  const confirmed = of(subject, 'SubjectConfirmation')
    .filter(({ attributes }) => attributes.Method === BEARER)
    .flatMap((one) => of(one, 'SubjectConfirmationData'))
    .find(({ attributes }) => attributes.Recipient === callback && !isOver(attributes.NotOnOrAfter));
  if (!confirmed) throw wrong('recipient');
  const nameId = only(subject, 'NameID');
  const name = nameId.text.trim();
  const format = nameId.attributes.Format ?? '';
  if (name === '' || name.length > LONGEST_NAME) throw wrong('no-name');
  // A transient name changes each time, so the user could not be recognized by it.
  if (format.endsWith(':transient')) throw wrong('transient-name');
  const { AuthnInstant: provenAt, SessionIndex: sessionIndex } = of(assertion, 'AuthnStatement')[0]?.attributes ?? {};
  const instant = Date.parse(provenAt ?? '');
  if (Number.isNaN(instant)) throw wrong('no-authn-statement');
  return {
    id: assertion.attributes.ID ?? '',
    until: Date.parse(confirmed.attributes.NotOnOrAfter ?? '') + SKEW_MS,
    sessionIndex,
    nameId: nameId.attributes,
    inResponseTo: confirmed.attributes.InResponseTo ?? '',
    subject: name,
    provenAt: instant,
    claims: { ...(format.endsWith(':emailAddress') && { email: name }), ...claimsOf(assertion) },
  };
}

/** Attribute names of directories and others, with the OpenID Connect claims that they correspond to. */
const known: Readonly<Record<string, string>> = {
  'urn:oid:0.9.2342.19200300.100.1.3': 'email',
  mail: 'email',
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress': 'email',
  'urn:oid:2.5.4.42': 'given_name',
  givenName: 'given_name',
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/givenname': 'given_name',
  'urn:oid:2.5.4.4': 'family_name',
  sn: 'family_name',
  surname: 'family_name',
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/surname': 'family_name',
  'urn:oid:0.9.2342.19200300.100.1.1': 'preferred_username',
  uid: 'preferred_username',
  username: 'preferred_username',
  'urn:oid:2.16.840.1.113730.3.1.241': 'name',
  displayName: 'name',
};

function claimsOf(assertion: Xml): SamlAssertion['claims'] {
  const pairs = of(assertion, 'AttributeStatement')
    .flatMap((statement) => of(statement, 'Attribute'))
    .flatMap((attribute) => {
      const { Name: name = '', FriendlyName: friendly = '' } = attribute.attributes;
      const values = of(attribute, 'AttributeValue').map(({ text }) => text.trim());
      const names = [known[name] ?? known[friendly], friendly, name].filter((one) => one !== undefined && one !== '');
      return names.map((one) => [one ?? '', values.length === 1 ? (values[0] ?? '') : values] as const);
    });
  return Object.fromEntries(pairs.filter(([name]) => name !== '__proto__'));
}

function documentIn(message: string): XmlDocument {
  const bytes = Buffer.from(message, 'base64');
  if (bytes.length > MESSAGE.bytes) throw wrong('too-large');
  return xmlOf(() => parseDocument(bytes, MESSAGE));
}

function xmlOf<T>(read: () => T, reason = 'malformed'): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof XmlError) throw new UpstreamError(`saml-${reason}`, { cause: error });
    throw error;
  }
}
