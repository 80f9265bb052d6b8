// Writes the realm's own SAML messages: their common parts, single logout, and the encoding for each binding. SAML 2.0 Core §3.2, §3.7.
import { randomBytes } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { RSA_SHA256, rsaSha256, signed, type XmlSigner } from '../xml/sign.ts';
import { canonicalXml, type XmlNode, xml } from '../xml/write.ts';
import { type Binding, PARTIAL_LOGOUT, SUCCESS } from './saml-names.ts';

const LIFE_MS = 5 * 60_000;

/** A random id that is an NCName (XML). */
export const newXmlId = (): string => `_${randomBytes(20).toString('hex')}`;

/** The Issuer element. */
export const issuerNode = (issuer: string): XmlNode => xml('saml:Issuer', {}, issuer);
/** The place of the signature among a message's children: behind the issuer. */
export const ISSUER_FIRST = 1;

/** The Status element (SAML Core §3.2.2). @param second the nested status code */
export const statusNode = (code: string, second?: string, message?: string): XmlNode =>
  xml(
    'samlp:Status',
    {},
    xml(
      'samlp:StatusCode',
      { Value: code },
      second === undefined ? undefined : xml('samlp:StatusCode', { Value: second }),
    ),
    message === undefined ? undefined : xml('samlp:StatusMessage', {}, message),
  );

interface From {
  issuer: string;
  /** The address that the message is sent to. */
  destination: string;
  now: Date;
}
const headOf = ({ destination, now }: From, more: Record<string, string>) => ({
  ID: newXmlId(),
  Version: '2.0',
  IssueInstant: now.toISOString(),
  Destination: destination,
  ...more,
});

/** @param id its response will name it @param nameId the other side's name for the user */
export const logoutRequest = (from: From, id: string, nameId: XmlNode, sessionIndex: string | undefined): XmlNode =>
  xml(
    'samlp:LogoutRequest',
    headOf(from, { ID: id, NotOnOrAfter: new Date(from.now.getTime() + LIFE_MS).toISOString() }),
    issuerNode(from.issuer),
    nameId,
    sessionIndex === undefined ? undefined : xml('samlp:SessionIndex', {}, sessionIndex),
  );

/** A LogoutResponse (SAML Core §3.7.2). @param partial some participants could not be logged out */
export const logoutResponse = (from: From, requestId: string, { partial }: { partial: boolean }): XmlNode =>
  xml(
    'samlp:LogoutResponse',
    headOf(from, { InResponseTo: requestId }),
    issuerNode(from.issuer),
    statusNode(SUCCESS, partial ? PARTIAL_LOGOUT : undefined),
  );

export type Sent =
  | { by: 'Redirect'; url: string }
  | { by: 'POST'; action: string; fields: Record<string, string | undefined> };

/** Encodes and signs a message for its binding. Bindings §3.4.4, §3.5.4. @param signer undefined: the message stays unsigned */
export async function messageForBinding(
  node: XmlNode,
  {
    to,
    relayState,
    signer,
  }: { to: { url: string; binding: Binding }; relayState: string | undefined; signer: XmlSigner | undefined },
): Promise<Sent> {
  const kind = node.name.endsWith('Response') ? 'SAMLResponse' : 'SAMLRequest';
  if (to.binding === 'POST') {
    const text = canonicalXml(signer ? await signed(node, ISSUER_FIRST, signer) : node);
    return {
      by: 'POST',
      action: to.url,
      fields: { [kind]: Buffer.from(text).toString('base64'), RelayState: relayState },
    };
  }
  const query = [
    [kind, deflateRawSync(canonicalXml(node)).toString('base64')],
    ...(relayState === undefined ? [] : [['RelayState', relayState]]),
    ...(signer ? [['SigAlg', RSA_SHA256]] : []),
  ];
  const covered = query.map(([name, value = '']) => `${name}=${encodeURIComponent(value)}`).join('&');
  // the signature covers this exact encoding
  const signature = signer && `&Signature=${encodeURIComponent(await rsaSha256(covered, signer.privateKey))}`;
  return { by: 'Redirect', url: `${to.url}${to.url.includes('?') ? '&' : '?'}${covered}${signature ?? ''}` };
}
