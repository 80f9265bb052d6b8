// The subjects of a stream: receivers add users and remove them, and never learn whether a user exists.
// SSF 1.0 §8.1.3, §9.1.
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import type { SubjectIdentifier } from '../../../contract/ssf.ts';
import { isUuid } from '../../../crypto/ids.ts';
import type { RealmSql } from '../../../db/realm-share.ts';
import { type Fragment, fragment, type Sql } from '../../../db/sql.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { Receiver, Streams } from './service.ts';
import { setSubject, visiblePerson } from './store.ts';

export interface StreamSubjectsDeps {
  sql: Sql;
  realmSql: RealmSql;
  settings: {
    issuer(realm: string): Promise<string>;
    of(realm: string): Promise<Pick<RealmSettingsDto, 'subjectStrategy'> | undefined>;
  };
  streams: Pick<Streams, 'mustFind'>;
}

export function createStreamSubjects({ sql, realmSql, settings, streams }: StreamSubjectsDeps) {
  async function bySub({ realm, client }: Receiver, sub: string): Promise<Fragment | undefined> {
    const strategy = (await settings.of(realm))?.subjectStrategy ?? 'public';
    if ((client.subjectType ?? strategy) === 'pairwise')
      throw new OAuthError('invalid_request', 'subject: this client’s pairwise subjects can’t be found again');
    if (strategy === 'attribute') return fragment`u.subject = ${sub}`;
    return isUuid(sub) ? fragment`u.id = ${sub}::uuid` : undefined;
  }

  /** The condition that finds the person; undefined: no user has the name. @throws OAuthError `invalid_request` */
  async function whichOf(receiver: Receiver, subject: SubjectIdentifier): Promise<Fragment | undefined> {
    const simple = subject.format === 'complex' ? subject.user : subject;
    if (simple.format === 'email') {
      if (!receiver.row.formats.includes('email'))
        throw new OAuthError('invalid_request', 'subject: this receiver does not name people by email');
      return fragment`lower(u.email) = lower(${simple.email}::text)`;
    }
    if (simple.format === 'scim') {
      if (!receiver.row.formats.includes('scim'))
        throw new OAuthError('invalid_request', 'subject: this receiver does not name people by SCIM');
      const [, id = ''] = /\/Users\/([^/]+)$/.exec(simple.uri) ?? [];
      return isUuid(id) ? fragment`u.id = ${id}::uuid` : undefined;
    }
    if (simple.format === 'opaque') return bySub(receiver, simple.id);
    return simple.iss === (await settings.issuer(receiver.realm)) ? bySub(receiver, simple.sub) : undefined;
  }

  return {
    async set(receiver: Receiver, id: string, subject: SubjectIdentifier, added: boolean): Promise<void> {
      const { realm, row } = receiver;
      const stream = await streams.mustFind(receiver, id);
      const which = await whichOf(receiver, subject);
      const person = which && (await visiblePerson(sql, realm, row, which));
      if (person !== undefined) await setSubject(realmSql(realm), realm, stream.id, person, added);
    },
  };
}
export type StreamSubjects = ReturnType<typeof createStreamSubjects>;
