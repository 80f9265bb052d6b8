// Reads an AuthnRequest: pure, from verified XML. SAML 2.0 Core §3.4.1, Profiles §4.1.4.1.

import { checkMessage, childOf } from '../../../domain/saml-checks.ts';
import { ASSERTION, bindingNames, type NameIdFormat, nameIdFormats, PROTOCOL } from '../../../domain/saml-names.ts';
import { childrenIn } from '../../../xml/children.ts';
import type { Xml } from '../../../xml/document.ts';
import type { RequestedContext } from './contexts.ts';

const flag = (value: string | undefined): boolean => value === 'true' || value === '1';

export interface AuthnRequest {
  id: string;
  consumer: { url: string | undefined; index: number | undefined };
  /** The request demands a binding for the response that this server doesn't support. */
  otherBinding: boolean;
  forced: boolean;
  passive: boolean;
  /** undefined: the format that the client is configured with; null: a format that this server doesn't support. */
  format: NameIdFormat | null | undefined;
  /** The SPNameQualifier of the requested name, if the request has one. */
  qualifier: string | undefined;
  /** The user whom the request names; null: it names one in a form that this server can't read. */
  subject: string | null | undefined;
  context: RequestedContext | undefined;
}

const formats = new Map<string, NameIdFormat>(
  Object.entries(nameIdFormats).map(([name, uri]) => [uri, name as NameIdFormat]),
);

function formatOf(policy: Xml | undefined): AuthnRequest['format'] {
  const asked = policy?.attributes.Format;
  if (asked === undefined || asked === '') return undefined;
  const format = formats.get(asked);
  // Core §8.3.1: `unspecified` leaves the choice to the identity provider
  return format === 'unspecified' ? undefined : (format ?? null);
}

function subjectOf(xml: Xml): AuthnRequest['subject'] {
  const subject = childOf(xml, 'Subject');
  if (!subject) return undefined;
  return childOf(subject, 'NameID')?.text.trim() || null;
}

function contextOf(xml: Xml): RequestedContext | undefined {
  const asked = childOf(xml, 'RequestedAuthnContext', PROTOCOL);
  if (!asked) return undefined;
  const classes = childrenIn(ASSERTION)(asked, 'AuthnContextClassRef').map(({ text }) => text.trim());
  return { comparison: asked.attributes.Comparison ?? 'exact', classes };
}

export function authnRequestOf(xml: Xml, at: { now: Date; addresses: readonly string[] }): AuthnRequest {
  const id = checkMessage(xml, 'AuthnRequest', at);
  const { AssertionConsumerServiceURL: url, AssertionConsumerServiceIndex: index } = xml.attributes;
  const { ProtocolBinding: binding, ForceAuthn, IsPassive } = xml.attributes;
  const policy = childOf(xml, 'NameIDPolicy', PROTOCOL);
  return {
    id,
    consumer: { url, index: index === undefined ? undefined : Number(index) },
    otherBinding: binding !== undefined && binding !== bindingNames.POST,
    forced: flag(ForceAuthn),
    passive: flag(IsPassive),
    format: formatOf(policy),
    qualifier: policy?.attributes.SPNameQualifier || undefined,
    subject: subjectOf(xml),
    context: contextOf(xml),
  };
}

/** The address of the response: one of the client's, compared exactly. @returns undefined: the request names another */
export function consumerOf(
  { url, index }: AuthnRequest['consumer'],
  consumers: readonly { url: string; index: number; default: boolean }[],
): string | undefined {
  if (url !== undefined) return consumers.find((one) => one.url === url)?.url;
  if (index !== undefined) return consumers.find((one) => one.index === index)?.url;
  return (consumers.find((one) => one.default) ?? consumers[0])?.url;
}
