// Reads a SAML message from its binding and verifies its signature. Only XML that the signature covers is returned as verified.
// SAML 2.0 Bindings §3.4 (Redirect), §3.5 (POST). Algorithms: RSA with SHA-256 or SHA-512, nothing less.
import { inflateRawSync } from 'node:zlib';
import { OAuthError } from '../http/oauth-error.ts';
import { MESSAGE, parseDocument, type Xml, type XmlDocument, XmlError } from '../xml/document.ts';
import { isSignedBy, keysOf, readSigned } from '../xml/signature.ts';
import { type Binding, MOST_RELAY_STATE, RELAY_STATE_TOO_LONG, SIGNATURES } from './saml-names.ts';

export interface Message {
  kind: 'SAMLRequest' | 'SAMLResponse';
  binding: Binding;
  document: XmlDocument;
  relayState: string | undefined;
  /** In the Redirect binding: the exact bytes that the query's signature may cover. */
  query: { covered: readonly string[]; algorithm: string; signature: Buffer } | undefined;
}

const bad = (description: string) => new OAuthError('invalid_request', description);

/** The parameters of a query or a form, raw and decoded. */
function parametersOf(text: string): Map<string, { raw: string; value: string }> {
  const all = new Map<string, { raw: string; value: string }>();
  for (const part of text.split('&')) {
    const at = part.indexOf('=');
    if (at < 0) continue;
    const [name, raw] = [part.slice(0, at), part.slice(at + 1)];
    if (all.has(name)) throw bad('A parameter comes twice');
    let value: string;
    try {
      value = decodeURIComponent(raw.replaceAll('+', ' '));
    } catch {
      throw bad('A parameter is not percent-encoded UTF-8');
    }
    if (value.includes('\0')) throw bad('A parameter holds a NUL character');
    all.set(name, { raw, value });
  }
  return all;
}

/** Some senders don't encode the plus sign, so it arrives as a space. */
const bytesOf = (base64: string): Buffer => Buffer.from(base64.replaceAll(' ', '+'), 'base64');

function inflated(bytes: Buffer): Buffer {
  try {
    return inflateRawSync(bytes, { maxOutputLength: MESSAGE.bytes });
  } catch {
    throw bad('The message is not deflated, or too large');
  }
}

/** @param text the query, or the form's body @throws OAuthError */
export function messageOf(binding: Binding, text: string): Message {
  const all = parametersOf(text);
  const [request, response] = [all.get('SAMLRequest'), all.get('SAMLResponse')];
  const found = request ?? response;
  if (!found || (request && response)) throw bad('SAMLRequest or SAMLResponse is needed');
  const kind = request ? 'SAMLRequest' : 'SAMLResponse';
  const state = all.get('RelayState');
  if (state && Buffer.byteLength(state.value) > MOST_RELAY_STATE) throw bad(RELAY_STATE_TOO_LONG);
  const bytes = bytesOf(found.value);
  const xml = binding === 'Redirect' ? inflated(bytes) : bytes;
  if (xml.length > MESSAGE.bytes) throw bad('The message is too large');
  const [algorithm, signature] = [all.get('SigAlg'), all.get('Signature')];
  const parts = [
    [kind, found],
    ['RelayState', state],
    ['SigAlg', algorithm],
  ] as const;
  const joined = (encoded: (part: { raw: string; value: string }) => string): string =>
    parts.flatMap(([name, part]) => (part ? [`${name}=${encoded(part)}`] : [])).join('&');
  // The raw text (§3.4.4.1), or the sender's own encoding, if a library of the sender encoded it again in another way.
  const covered = [joined(({ raw }) => raw), joined(({ value }) => encodeURIComponent(value))];
  return {
    kind,
    binding,
    document: parsed(xml),
    relayState: state?.value,
    query:
      binding === 'Redirect' && signature
        ? { covered, algorithm: algorithm?.value ?? '', signature: bytesOf(signature.value) }
        : undefined,
  };
}

function parsed(xml: Buffer): XmlDocument {
  try {
    return parseDocument(xml, MESSAGE);
  } catch (error) {
    throw error instanceof XmlError ? bad(error.message) : error;
  }
}

/** The message's XML before the signature is checked: use it only to find the sender. */
export const unverifiedMessage = ({ document }: Message): Xml => document.xml;

const has = (xml: Xml, found: (one: Xml) => boolean): boolean =>
  found(xml) || xml.children.some((child) => has(child, found));
const isSignature = ({ name, namespace }: Xml): boolean => name === 'Signature' && namespace === SIGNATURES;

/**
 * The XML that the signature covers; undefined if the signature is wrong, or is needed and missing.
 * @param read the result of {@link unverifiedMessage}
 */
export function verifiedMessage(
  message: Message,
  read: Xml,
  { certificates, needed }: { certificates: readonly string[]; needed: boolean },
): Xml | undefined {
  // Without a key no signature can be checked, so the message counts as unsigned.
  if (certificates.length === 0) return needed ? undefined : read;
  const inside = has(read, isSignature);
  if (message.binding === 'POST') {
    if (!inside) return needed ? undefined : read;
    return signedBy(message.document, certificates);
  }
  // §3.4.4.1: the sender must remove a signature from the message itself.
  if (inside) return undefined;
  const { query } = message;
  if (!query) return needed ? undefined : read;
  return holds(query, certificates) ? read : undefined;
}

function signedBy(document: XmlDocument, certificates: readonly string[]): Xml | undefined {
  return unlessXmlError(() => readSigned(document, certificates));
}

function holds(
  { covered, algorithm, signature }: NonNullable<Message['query']>,
  certificates: readonly string[],
): boolean {
  const keys = unlessXmlError(() => keysOf(certificates)) ?? [];
  return covered.some((text) => isSignedBy(keys, algorithm, text, signature));
}

function unlessXmlError<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof XmlError) return undefined;
    throw error;
  }
}
