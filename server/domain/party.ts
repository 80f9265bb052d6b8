// A user as audit events name them.
import type { Party } from '../contract/events.ts';

/** A user as actor or subject of an audit event. */
export const userParty = (id: string | null, name: string | null): Party => ({ type: 'user', id, name });
