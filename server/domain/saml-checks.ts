// Checks that apply to every SAML message, and reads the messages of single logout. Pure, from parsed XML.
// SAML 2.0 Core §3.2, §3.7.
import { OAuthError } from '../http/oauth-error.ts';
import { childrenIn } from '../xml/children.ts';
import type { Xml } from '../xml/document.ts';
import { ASSERTION, PARTIAL_LOGOUT, PROTOCOL, SUCCESS } from './saml-names.ts';

/** How old a message may be, and how far the two clocks may differ. */
const OLDEST_MS = 5 * 60_000;
export const SKEW_MS = 3 * 60_000;
const ID = /^[A-Za-z_][\w.-]{0,255}$/;

const bad = (description: string) => new OAuthError('invalid_request', description);
const of = childrenIn(ASSERTION);
/** The first child element of that name; by default in the assertion namespace. */
export const childOf = (xml: Xml, name: string, namespace?: string): Xml | undefined => of(xml, name, namespace)[0];

/** The text of the message's Issuer; empty without one. */
export const issuerOf = (xml: Xml): string => childOf(xml, 'Issuer')?.text.trim() ?? '';

/**
 * Checks a message's version, its age and its destination.
 * @returns its ID @throws OAuthError
 */
export function checkMessage(
  xml: Xml,
  name: string,
  { now, addresses }: { now: Date; addresses: readonly string[] },
): string {
  if (xml.name !== name || xml.namespace !== PROTOCOL) throw bad(`The message is no ${name} of SAML 2.0`);
  const { ID: id = '', Version: version, IssueInstant: issued = '', Destination: destination } = xml.attributes;
  if (version !== '2.0') throw bad('The message is not of version 2.0');
  if (!ID.test(id)) throw bad('The message has no ID');
  if (destination !== undefined && destination !== '' && !addresses.includes(destination))
    throw bad('The message is for another destination');
  const age = now.getTime() - Date.parse(issued);
  if (!(age <= OLDEST_MS + SKEW_MS && age >= -SKEW_MS))
    throw bad('The message is too old, or the clocks of both sides are apart');
  return id;
}

export interface LogoutRequest {
  id: string;
  /** The other side's name for the user. */
  name: string;
  /** Empty: all sessions of the user. */
  indexes: readonly string[];
}

/** @param xml of a verified message @throws OAuthError */
export function logoutRequestOf(xml: Xml, at: { now: Date; addresses: readonly string[] }): LogoutRequest {
  const id = checkMessage(xml, 'LogoutRequest', at);
  const until = xml.attributes.NotOnOrAfter;
  if (until !== undefined && !(Date.parse(until) + SKEW_MS > at.now.getTime()))
    throw new OAuthError('invalid_request', 'The message is too old, or the clocks of both sides are apart');
  const name = childOf(xml, 'NameID')?.text.trim();
  if (!name) throw new OAuthError('invalid_request', 'The message names nobody in plain text');
  const indexes = of(xml, 'SessionIndex', PROTOCOL).map(({ text }) => text.trim());
  return { id, name, indexes };
}

/** Whether the other side has ended all of its session. */
export function isDone(xml: Xml): boolean {
  const status = childOf(xml, 'Status', PROTOCOL);
  const code = status && childOf(status, 'StatusCode', PROTOCOL);
  const second = code && childOf(code, 'StatusCode', PROTOCOL);
  return code?.attributes.Value === SUCCESS && second?.attributes.Value !== PARTIAL_LOGOUT;
}
