// The meaning of an event for receivers of Shared Signals: pure. The job (tokens-job.ts) reads the state of the user and makes the tokens.
// CAEP 1.0 §3, RISC 1.0 §2.
import { z } from 'zod';
import type { SentSignal } from '../../../contract/signals.ts';

const Actor = z.object({ type: z.string(), id: z.string().nullable() }).nullable();
export const Source = z.object({
  id: z.string(),
  type: z.string(),
  occurred_at: z.date(),
  actor: Actor,
  subject: Actor,
  data: z.record(z.string(), z.unknown()),
});
export type Source = z.infer<typeof Source>;

/** The state of a user as far as receivers see it. */
export interface PersonState {
  email: string | null;
  subject: string | null;
  enabled: boolean;
}

/** One thing to tell about a user. */
export interface Note {
  signal: SentSignal;
  userId: string;
  at: Date;
  source: string;
  /** The event's own fields. */
  payload: Readonly<Record<string, unknown>>;
  /** The session that ended, and the clients that had it. */
  session?: { id: string; clients: readonly string[] };
  /** The changed fields of the user: the claims follow from them and the client. */
  fields?: readonly string[];
}

/** The cause of the event. CAEP 1.0 §2: admin, user, policy or system. */
function initiator({ actor, subject }: Source): string {
  if (!actor || actor.type === 'system') return 'system';
  return actor.type === 'user' && actor.id !== null && actor.id === subject?.id ? 'user' : 'admin';
}

/** The names of credential types in CAEP 1.0 §3.3.1; others keep ours. */
const credentialTypes: Readonly<Record<string, string>> = { otp: 'app', device: 'app' };
function credentialOf({ type, deviceType }: Readonly<Record<string, unknown>>): string {
  if (type === 'webauthn') return deviceType === 'multiDevice' ? 'fido2-platform' : 'fido2-roaming';
  return credentialTypes[String(type)] ?? String(type);
}

/** The SCIM attributes that a user's fields become. */
const scimAttributes: Readonly<Record<string, string>> = {
  username: 'userName',
  email: 'emails',
  firstName: 'name',
  lastName: 'name',
  enabled: 'active',
  groups: 'groups',
  roles: 'roles',
};

const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];

/** The changes between two states of a user: what no event says by itself. */
export function changesOf(
  source: Source,
  userId: string,
  { before, after }: { before: PersonState | undefined; after: PersonState | undefined },
): Note[] {
  const note = (signal: SentSignal, payload: Note['payload'] = {}): Note => ({
    signal,
    userId,
    at: source.occurred_at,
    source: source.id,
    payload,
  });
  // The events of an erasure name a pseudonym, of which nothing is known.
  if (!after) return before || source.type === 'USER_DELETED' ? [note('account-purged'), note('scim-delete')] : [];
  if (!before) return [];
  const notes: Note[] = [];
  if (before.enabled !== after.enabled)
    notes.push(
      note(after.enabled ? 'account-enabled' : 'account-disabled'),
      note(after.enabled ? 'scim-activate' : 'scim-deactivate'),
    );
  if (before.email !== null && after.email !== null && before.email !== after.email)
    notes.push(note('identifier-changed', { 'new-value': after.email }));
  return notes;
}

/** The notes that follow from the event alone. */
export function notesOf(source: Source, { namespace }: { namespace: string }): Note[] {
  const { type, subject, data, occurred_at: at } = source;
  if (subject?.type !== 'user' || subject.id === null) return [];
  const base = { userId: subject.id, at, source: source.id };
  const initiating_entity = initiator(source);
  const note = (signal: SentSignal, payload: Note['payload'], more: Partial<Note> = {}): Note[] => [
    { ...base, signal, payload: { initiating_entity, ...payload }, ...more },
  ];
  switch (type) {
    case 'SESSION_ENDED': {
      // An administrator's session has no clients of the realm.
      if (typeof data.sessionId !== 'string') return [];
      return note('session-revoked', {}, { session: { id: data.sessionId, clients: strings(data.clients) } });
    }
    case 'LOGIN_SUCCESS': {
      const [previous, current] = [data.previousLevel, data.levelOfAssurance];
      if (typeof previous !== 'number' || typeof current !== 'number' || previous === current) return [];
      return note('assurance-level-change', {
        namespace,
        previous_level: String(previous),
        current_level: String(current),
        change_direction: current > previous ? 'increase' : 'decrease',
      });
    }
    case 'PASSWORD_CHANGED':
      return note('credential-change', { credential_type: 'password', change_type: 'update' });
    case 'CREDENTIAL_CREATED':
      return note('credential-change', { credential_type: credentialOf(data), change_type: 'create' });
    case 'CREDENTIAL_DELETED':
      return note('credential-change', { credential_type: credentialOf(data), change_type: 'delete' });
    case 'SIGN_IN_REPORTED':
      return note('credential-compromise', { credential_type: 'password' });
    case 'USER_CREATED':
      return [{ ...base, signal: 'scim-create', payload: { attributes: ['userName', 'active'] } }];
    case 'USER_UPDATED': {
      const fields = strings(data.fields);
      if (fields.length === 0) return [];
      const attributes = [...new Set(fields.flatMap((field) => scimAttributes[field] ?? []))];
      return [
        ...note('token-claims-change', {}, { fields }),
        ...(attributes.length > 0 ? [{ ...base, signal: 'scim-patch' as const, payload: { attributes } }] : []),
      ];
    }
    default:
      return [];
  }
}
