// Whether a user may use an application: roles can restrict it, and a pairwise client needs a subject for the user.
import type { By, DomainEvent } from '../../../contract/events.ts';
import type { Transact } from '../../../db/transact.ts';
import { actorOf, personOf } from '../../../domain/session.ts';
import type { Subjects } from '../../../domain/subjects.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import type { SsoSession } from '../../people/sessions/service.ts';
import { holdsOneOf } from './store.ts';

interface At {
  realm: string;
  ipAddress: string;
}

export function createAdmission({ transact, subjects }: { transact: Transact; subjects: Pick<Subjects, 'ofUser'> }) {
  const denied = (
    { realm, ipAddress }: At,
    { clientId }: ClientView,
    session: SsoSession,
    data: Record<string, unknown>,
  ): DomainEvent => {
    const by: By = { actor: actorOf(session), ipAddress };
    return { type: 'ACCESS_DENIED', realm, by, subject: personOf(session), clientId, outcome: 'denied', data };
  };

  async function refuseOutsider(at: At, client: ClientView, session: SsoSession): Promise<void> {
    const { application } = client;
    if (!application || application.roles.length === 0) return;
    const allowed = await transact(at.realm, async ({ sql, record }) => {
      if (await holdsOneOf(sql, at.realm, session.userId, application.roles)) return true;
      record(denied(at, client, session, { application: application.name }));
      return false;
    });
    if (!allowed) throw new OAuthError('access_denied', 'You may not use this application');
  }

  /** @returns the user's subject at the client. @throws OAuthError `access_denied` */
  return async function admit(at: At, client: ClientView, session: SsoSession): Promise<string> {
    await refuseOutsider(at, client, session);
    const subject = await subjects.ofUser(at.realm, client, session.userId);
    if (subject) return subject.sub;
    await transact(at.realm, async ({ record }) => record(denied(at, client, session, { subject: null })));
    throw new OAuthError('access_denied', 'Your account lacks the attribute that applications know you by');
  };
}
