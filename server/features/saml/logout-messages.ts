// Messages of single logout: what a request names, whether a response is good news, and ours. SAML 2.0 Core §3.7, Profiles §4.4.
import { deflateRawSync } from 'node:zlib';
import { type Binding, PARTIAL_LOGOUT, PROTOCOL, SUCCESS } from '../../domain/saml-names.ts';
import { OAuthError } from '../../http/oauth-error.ts';
import type { Xml } from '../../xml/document.ts';
import { RSA_SHA256, rsaSha256, signed, type XmlSigner } from '../../xml/sign.ts';
import { written, type XmlNode, xml } from '../../xml/write.ts';
import { checkMessage, childOf, SKEW_MS } from './authn-request.ts';
import type { Participant } from './logout-store.ts';
import { ISSUER_FIRST, nameIdNode, newXmlId, statusNode } from './response.ts';

const LIFE_MS = 5 * 60_000;

export interface LogoutRequest {
  id: string;
  /** What the service provider calls the person. */
  name: string;
  /** None: all sessions of theirs. */
  indexes: readonly string[];
}

/** From XML that was verified. @throws OAuthError */
export function logoutRequestOf(xml: Xml, at: { now: Date; addresses: readonly string[] }): LogoutRequest {
  const id = checkMessage(xml, 'LogoutRequest', at);
  const until = xml.attributes.NotOnOrAfter;
  if (until !== undefined && !(Date.parse(until) + SKEW_MS > at.now.getTime()))
    throw new OAuthError('invalid_request', 'The message is too old, or the clocks of both sides are apart');
  const name = childOf(xml, 'NameID')?.text.trim();
  if (!name) throw new OAuthError('invalid_request', 'The message names nobody in plain text');
  const indexes = xml.children
    .filter((child) => child.name === 'SessionIndex' && child.namespace === PROTOCOL)
    .map(({ text }) => text.trim());
  return { id, name, indexes };
}

/** Whether all that the service provider had of the session is over. */
export function isDone(xml: Xml): boolean {
  const status = childOf(xml, 'Status', PROTOCOL);
  const code = status && childOf(status, 'StatusCode', PROTOCOL);
  const second = code && childOf(code, 'StatusCode', PROTOCOL);
  return code?.attributes.Value === SUCCESS && second?.attributes.Value !== PARTIAL_LOGOUT;
}

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

/** @param id by which its response will be known */
export const logoutRequest = (from: From, id: string, { entityId, nameId, sessionIndex }: Participant): XmlNode =>
  xml(
    'samlp:LogoutRequest',
    headOf(from, { ID: id, NotOnOrAfter: new Date(from.now.getTime() + LIFE_MS).toISOString() }),
    xml('saml:Issuer', {}, from.issuer),
    nameIdNode(nameId, { issuer: from.issuer, client: { entityId } }),
    xml('samlp:SessionIndex', {}, sessionIndex),
  );

export const logoutResponse = (from: From, requestId: string, { partial }: { partial: boolean }): XmlNode =>
  xml(
    'samlp:LogoutResponse',
    headOf(from, { InResponseTo: requestId }),
    xml('saml:Issuer', {}, from.issuer),
    statusNode(SUCCESS, partial ? PARTIAL_LOGOUT : undefined),
  );

export type Sent =
  | { by: 'Redirect'; url: string }
  | { by: 'POST'; action: string; fields: Record<string, string | undefined> };

/** A message of ours as its binding carries it, signed. Bindings §3.4.4, §3.5.4. */
export async function carried(
  node: XmlNode,
  {
    to,
    relayState,
    signer,
  }: { to: { url: string; binding: Binding }; relayState: string | undefined; signer: XmlSigner },
): Promise<Sent> {
  const kind = node.name.endsWith('Response') ? 'SAMLResponse' : 'SAMLRequest';
  if (to.binding === 'POST') {
    const text = written(await signed(node, ISSUER_FIRST, signer));
    return {
      by: 'POST',
      action: to.url,
      fields: { [kind]: Buffer.from(text).toString('base64'), RelayState: relayState },
    };
  }
  const query = [
    [kind, deflateRawSync(written(node)).toString('base64')],
    ...(relayState === undefined ? [] : [['RelayState', relayState]]),
    ['SigAlg', RSA_SHA256],
  ];
  const covered = query.map(([name, value = '']) => `${name}=${encodeURIComponent(value)}`).join('&');
  const signature = encodeURIComponent(await rsaSha256(covered, signer.privateKey));
  return { by: 'Redirect', url: `${to.url}${to.url.includes('?') ? '&' : '?'}${covered}&Signature=${signature}` };
}
