// Finds audit events of users who changed their own data: by themselves, or by the data of their identity provider.
import { fragment } from '../db/sql.ts';

/** Condition on an event's row `e`. If a provider's data arrived before the user was signed in, the event has no actor. */
export const isOwnChange = fragment`(e.type = 'USER_UPDATED' and e.subject ->> 'type' = 'user'
  and (e.actor ->> 'id' = e.subject ->> 'id' or e.actor ->> 'type' is null or e.data ? 'identityProvider'))`;
