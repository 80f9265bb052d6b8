// A user as audit events name them.
import type { Party } from '../contract/events.ts';

export const userParty = (id: string | null, name: string | null): Party => ({ type: 'user', id, name });
