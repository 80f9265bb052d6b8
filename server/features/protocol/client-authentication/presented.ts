// Reads a request's client authentication: pure. RFC 6749 §2.3.1 (form-encoded inside Basic), RFC 7523 §2.2,
// draft-ietf-oauth-spiffe-client-auth §4.
import { decodeJwt } from 'jose/jwt/decode';
import type { Form } from '../../../http/form.ts';
import { loggableText, OAuthError } from '../../../http/oauth-error.ts';

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const SVID_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-spiffe';

export type Presented =
  | ({ clientId: string } & ({ method: 'secret'; secrets: string[] } | { method: 'none' } | OwnAssertion))
  | FederatedAssertion;
/** The client names itself as the assertion's issuer. */
interface OwnAssertion {
  method: 'assertion';
  assertion: string;
}
/** Another issuer than the client signed the assertion, so its subject is no client id. */
export interface FederatedAssertion {
  method: 'federated';
  /** The parameter `client_id`; undefined: the workload identity says which client it is. */
  clientId: string | undefined;
  assertion: string;
  /** The assertion is a JWT-SVID by its type. */
  svid: boolean;
}

const MOST_NAME = 255;

const refused = (reason: string) =>
  new OAuthError('invalid_client', 'The client could not be authenticated', { reason });

/** @throws OAuthError `invalid_request` if a client uses more than one method (RFC 6749 §2.3) */
export function presentedBy(authorization: string | undefined, form: Form): Presented {
  const [clientId, secret, assertion] = [
    form.get('client_id'),
    form.get('client_secret'),
    form.get('client_assertion'),
  ];
  const ways = [authorization, secret, assertion].filter((way) => way !== undefined).length;
  if (ways > 1) throw new OAuthError('invalid_request', 'Use one method of client authentication');
  if (authorization !== undefined) return basic(authorization, clientId);
  if (assertion !== undefined) return asserted(assertion, form.get('client_assertion_type'), clientId);
  if (clientId === undefined) throw refused('no client is named');
  return secret === undefined ? { clientId, method: 'none' } : { clientId, method: 'secret', secrets: [secret] };
}

function basic(authorization: string, named: string | undefined): Presented {
  const encoded = /^Basic +([A-Za-z0-9+/_-]+=*)$/i.exec(authorization)?.[1];
  const pair = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString();
  const colon = pair.indexOf(':');
  if (colon < 1 || pair.includes('\0')) throw refused('not a Basic header');
  const clientId = formDecoded(pair.slice(0, colon)) ?? '';
  const raw = pair.slice(colon + 1);
  if (named !== undefined && named !== clientId) throw refused('client_id and the Authorization header differ');
  // RFC 6749 §2.3.1 demands a form-encoded secret, but many clients don't encode it: a secret that can't be decoded is
  // used as it came.
  const secret = formDecoded(raw) ?? raw;
  return { clientId, method: 'secret', secrets: secret === raw ? [raw] : [secret, raw] };
}

/** The client's name in a request, even if the rest is invalid. */
export function nameIn(authorization: string | undefined, form: Form): string | undefined {
  const name = form.get('client_id') ?? nameInBasic(authorization) ?? subjectOf(form.get('client_assertion'));
  return loggableText(name, MOST_NAME);
}

function nameInBasic(authorization = ''): string | undefined {
  const pair = Buffer.from(/^Basic +(\S+)$/i.exec(authorization)?.[1] ?? '', 'base64').toString();
  const colon = pair.indexOf(':');
  // A value without a colon may be a secret, so it isn't returned as a name.
  return colon < 1 ? undefined : (formDecoded(pair.slice(0, colon)) ?? pair.slice(0, colon));
}

function subjectOf(assertion: string | undefined): string | undefined {
  try {
    const { iss, sub } = assertion === undefined ? {} : decodeJwt(assertion);
    // Another issuer's subject names no client.
    return (iss ?? sub) === sub && !sub?.startsWith('spiffe://') ? sub : undefined;
  } catch {
    return undefined;
  }
}

function formDecoded(text: string): string | undefined {
  if (!/[%+]/.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** RFC 7521 §4.2: client_id is optional, because the assertion's `sub` names the client, or its workload identity does. */
function asserted(assertion: string, type: string | undefined, named: string | undefined): Presented {
  const svid = type === SVID_TYPE;
  if (type !== ASSERTION_TYPE && !svid) throw refused('an unknown client_assertion_type');
  try {
    const { iss, sub } = decodeJwt(assertion);
    if (typeof sub !== 'string') throw refused('the assertion has no subject');
    if (iss !== sub || svid) return { method: 'federated', clientId: named, assertion, svid };
    if (named !== undefined && named !== sub) throw refused('client_id is not the subject');
    return { clientId: sub, method: 'assertion', assertion };
  } catch (error) {
    throw error instanceof OAuthError ? error : refused('the assertion is not a JWT');
  }
}
