// The history of a user in an export and an erasure: sign-ins in the audit log, sessions and consents; and the tables that
// hold data of the user in flight. Specification 2.9, 4.6.

import type { PersonalData } from '../../../domain/personal-data.ts';
import { signInsOf } from '../../../events/erasure.ts';
import { erasePerson } from '../../../events/log.ts';
import { eraseFromQueue } from '../../../jobs/erasure.ts';
import { eraseFromDeliveries } from './erasure.ts';
import * as store from './store.ts';

interface EventRow {
  type: string;
  occurred_at: Date;
  ip_address: string | null;
  user_agent: string | null;
  client_id: string | null;
  outcome: string;
}

/** Sign-ins of the audit log, and live sessions. */
const loginEvents: PersonalData = {
  tables: ['event', 'departed_event', 'session', 'sign_in_history', 'known_device'],
  async export(sql, realm, userId) {
    const rows = await sql<EventRow>`
      select type, occurred_at, ip_address, null as user_agent, client_id, outcome from event
      where realm_id = ${realm} and subject ->> 'id' = ${userId} and subject ->> 'type' = 'user'
        and type in ('LOGIN_SUCCESS', 'LOGIN_FAILURE', 'LOGOUT', 'ADMIN_LOGIN_SUCCESS', 'ADMIN_LOGIN_FAILURE', 'ADMIN_LOGOUT')
      union all
      select 'SESSION', started_at, ip_address, user_agent, null, 'success' from session
      where realm_id = ${realm} and user_id = ${userId}
      union all
      select case when program then 'KNOWN_PROGRAM' else 'KNOWN_BROWSER' end, last_seen_at, null, user_agent, null, 'success' from known_device
      where realm_id = ${realm} and user_id = ${userId}
      order by occurred_at desc`;
    return {
      loginEvents: rows.map((row) => ({
        type: row.type,
        occurredAt: row.occurred_at.getTime(),
        ipAddress: row.ip_address,
        userAgent: row.user_agent,
        clientId: row.client_id,
        outcome: row.outcome,
      })),
    };
  },
  erase: erasePerson,
};

const consents: PersonalData = {
  tables: ['consent', 'saml_consent'],
  export: async (sql, realm, userId) => ({ consents: await store.consents(sql, realm, userId) }),
};

/** Grants end with the user. Deliveries that still wait for a receiver must not name the user. */
const inFlight: PersonalData = {
  tables: [
    'refresh_family',
    'authorization_code',
    'device_authorization',
    'backchannel_authentication',
    'admin_session',
    'admin_grant',
    'sign_in',
    'webhook_delivery',
  ],
  async erase(sql, realm, subject) {
    await sql`delete from sign_in where realm_id = ${realm} and state::text ~* ${signInsOf(subject)}`;
    await eraseFromQueue(sql, subject);
    await eraseFromDeliveries(sql, realm, subject);
  },
};

/** The order matters: deliveries are found by the audit log, and the audit log is locked last. */
export const historyData: readonly PersonalData[] = [consents, inFlight, loginEvents];
