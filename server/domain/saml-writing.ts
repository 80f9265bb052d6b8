// What the realm's own messages of SAML have in common, those of single logout, and how any is carried. SAML 2.0 Core §3.2, §3.7.
import { randomBytes } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { RSA_SHA256, rsaSha256, signed, type XmlSigner } from '../xml/sign.ts';
import { canonicalXml, type XmlNode, xml } from '../xml/write.ts';
import { type Binding, PARTIAL_LOGOUT, SUCCESS } from './saml-names.ts';

const LIFE_MS = 5 * 60_000;

/** An NCName that nobody guesses. */
export const newXmlId = (): string => `_${randomBytes(20).toString('hex')}`;

export const issuerNode = (issuer: string): XmlNode => xml('saml:Issuer', {}, issuer);
/** What all messages of ours have; {@link signed} puts the signature behind the issuer. */
export const ISSUER_FIRST = 1;

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
  /** Where it is sent. */
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

/** @param id by which its response will be known @param nameId what the other side calls the person */
export const logoutRequest = (from: From, id: string, nameId: XmlNode, sessionIndex: string | undefined): XmlNode =>
  xml(
    'samlp:LogoutRequest',
    headOf(from, { ID: id, NotOnOrAfter: new Date(from.now.getTime() + LIFE_MS).toISOString() }),
    issuerNode(from.issuer),
    nameId,
    sessionIndex === undefined ? undefined : xml('samlp:SessionIndex', {}, sessionIndex),
  );

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

/** A message of ours as its binding carries it. Bindings §3.4.4, §3.5.4. @param signer undefined: it goes unsigned */
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
  // Signed as it is written: no other encoding may come between.
  const signature = signer && `&Signature=${encodeURIComponent(await rsaSha256(covered, signer.privateKey))}`;
  return { by: 'Redirect', url: `${to.url}${to.url.includes('?') ? '&' : '?'}${covered}${signature ?? ''}` };
}
