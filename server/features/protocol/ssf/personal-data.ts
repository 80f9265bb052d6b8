// The personal data of Shared Signals. An erasure leaves only what the token of the deletion needs, until the job has made it
// (tokens-job.ts); a realm without streams makes none. Specification 4.6.
import type { PersonalData } from '../../../domain/personal-data.ts';

export const signalData: PersonalData = {
  tables: ['signal_person', 'signal_stream_subject', 'signal_source', 'signal_set', 'signal_risk'],
  async erase(sql, realm, { id }) {
    await sql`
      delete from signal_person p where p.realm_id = ${realm} and p.user_id = ${id}
        and not exists (select from signal_stream s where s.realm_id = p.realm_id)`;
    await sql`delete from signal_set where realm_id = ${realm} and user_id = ${id}`;
    await sql`
      delete from signal_source
      where realm_id = ${realm} and (subject ->> 'id' = ${id}::text or actor ->> 'id' = ${id}::text)`;
  },
};
