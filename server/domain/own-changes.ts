// Which events of the audit log say that somebody changed themselves: by their own hand, or by what their identity provider said.
import { fragment } from '../db/sql.ts';

/** Of a row `e`. A provider's word from before somebody was signed in has no actor. */
export const isOwnChange = fragment`(e.type = 'USER_UPDATED' and e.subject ->> 'type' = 'user'
  and (e.actor ->> 'id' = e.subject ->> 'id' or e.actor ->> 'type' is null or e.data ? 'identityProvider'))`;
