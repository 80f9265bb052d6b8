// The contents of a security event token: pure but for the subject's name. RFC 8417 §2, RFC 9493, SSF 1.0 §4.
import { isProvisioning, type SentSignal, type SubjectFormat, uriOfSignal } from '../../../contract/signals.ts';
import { type ClaimView, claimsOf, type ScopeView, saidFor } from '../../../domain/claims.ts';
import type { Person } from '../../../domain/person.ts';
import type { Note } from './notes.ts';

export type SubjectId = Readonly<Record<string, unknown>>;

/** The parts of a name that a format may use. */
export interface Named {
  iss: string;
  sub: string | undefined;
  /** The user's id. */
  id: string;
  email: string | null;
  sessionId: string | undefined;
}

/** @returns undefined: the format has no name for the user */
export function subjectIn(format: SubjectFormat, { iss, sub, id, email, sessionId }: Named): SubjectId | undefined {
  switch (format) {
    // RFC 9967 §2.1: relative to the base of the realm's SCIM server
    case 'scim':
      return { format, uri: `/Users/${id}` };
    case 'email':
      return email === null ? undefined : { format, email };
    case 'opaque':
      return sub === undefined ? undefined : { format, id: sub };
    case 'iss_sub':
      return sub === undefined ? undefined : { format, iss, sub };
    case 'complex':
      return sub === undefined
        ? undefined
        : {
            format,
            user: { format: 'iss_sub', iss, sub },
            ...(sessionId !== undefined && { session: { format: 'opaque', id: sessionId } }),
          };
  }
}

export interface Contents {
  iss: string;
  aud: string;
  jti: string;
  at: Date;
  subject: SubjectId;
  event: string;
  payload: Readonly<Record<string, unknown>>;
  /** The event from which the token comes: tokens of one event have the same. */
  txn?: string;
  subjectInEvents?: boolean;
}

/** SSF 1.0 §4.1: one event, its subject in `sub_id`, and no `sub` or `exp`, so that no one takes it for another kind of token. */
export const setClaims = ({ iss, aud, jti, at, subject, event, payload, txn, subjectInEvents = false }: Contents) => ({
  iss,
  jti,
  iat: Math.floor(at.getTime() / 1000),
  aud,
  ...(txn !== undefined && { txn }),
  sub_id: subject,
  events: { [event]: { ...(subjectInEvents && { subject }), ...payload } },
});

/** The fields of CAEP's events are optional in RISC's; both have the time, which SCIM's do not. */
export const payloadOf = ({ signal, at, payload }: Note): Record<string, unknown> => ({
  ...(!isProvisioning(signal) && { event_timestamp: Math.floor(at.getTime() / 1000) }),
  ...payload,
});

const PLACES = ['accessToken', 'idToken', 'userinfo'] as const;
const propertiesOf: Readonly<Record<string, readonly string[]>> = {
  firstName: ['firstName', 'fullName'],
  lastName: ['lastName', 'fullName'],
};

/** Whether the claim's value may have changed with one of these fields of the user. */
function dependsOn({ source, attribute }: ClaimView, fields: readonly string[]): boolean {
  const has = (...names: string[]) => fields.some((field) => names.includes(field) || field.startsWith(`${names[0]}.`));
  switch (source) {
    case 'property':
      return fields.some((field) => (propertiesOf[field] ?? [field]).includes(attribute ?? ''));
    case 'attribute':
      return has('attributes', 'groups');
    case 'groups':
      return has('groups');
    case 'roles':
    case 'clientRoles':
      return has('roles', 'clientRoles', 'groups');
    case 'organization':
      return has('organizations');
    default:
      return false;
  }
}

/**
 * The present values of the claims that the change can have touched, of those that the client gets in tokens; null: the user has none
 * any more. undefined: none of them is the client's. CAEP 1.0 §3.2.
 */
export function changedClaims(
  client: { mappers: readonly ClaimView[] },
  scopes: readonly ScopeView[],
  person: Person,
  fields: readonly string[],
): Record<string, unknown> | undefined {
  const touched = saidFor(client, scopes).map(({ claims }) => ({
    claims: claims.filter((claim) => dependsOn(claim, fields)),
  }));
  const names = touched.flatMap(({ claims }) =>
    claims.flatMap(({ name, in: places }) => (places.length > 0 ? [outer(name)] : [])),
  );
  if (names.length === 0) return undefined;
  const present = Object.assign({}, ...PLACES.map((place) => claimsOf(touched, person, place)));
  return { ...Object.fromEntries(names.map((name) => [name, null])), ...present };
}
/** A dot nests a claim, except in URLs. */
const outer = (name: string): string => /^([\w-]+)\.[\w-]+$/.exec(name)?.[1] ?? name;

/** The events of a stream: those that are permitted and requested. */
export const deliveredEvents = (permitted: readonly SentSignal[], requested: readonly string[] | null): SentSignal[] =>
  permitted.filter((signal) => requested === null || requested.includes(uriOfSignal[signal]));
