// When a user's session is alive: one rule for sessions, refresh and introspection. Specification 2.3.
// features/people/sessions starts and ends sessions.
import type { Party } from '../contract/events.ts';
import type { RealmSettingsDto } from '../contract/settings.ts';
import { type Fragment, fragment } from '../db/sql.ts';
import { actingHolds } from './acting.ts';
import { userParty } from './party.ts';

/** The session's user, and the administrator who impersonates them. */
interface Acted {
  userId: string;
  username: string;
  impersonator: { id: string; name: string } | null;
}
/** The user of the session, as a party of audit events. */
export const personOf = ({ userId, username }: Acted): Party => userParty(userId, username);
/** The person who acts in the session: the administrator of an impersonated one, otherwise the user. */
export const actorOf = (session: Acted): Party => {
  const { impersonator } = session;
  return impersonator ? userParty(impersonator.id, impersonator.name) : personOf(session);
};

type Limits = Pick<
  RealmSettingsDto,
  'ssoSessionIdleTimeoutSeconds' | 'ssoSessionMaxLifetimeSeconds' | 'rememberMeLifetimeSeconds'
>;

/** A session has ended if its last use or its start lies before these moments, by the present settings. */
export interface Cutoffs<Moment = Date> {
  now: Moment;
  seen: Moment;
  started: Moment;
  rememberedStarted: Moment;
}

/** The instants before which sessions have expired. @param limits in seconds */
export function cutoffsOf(limits: Limits, now: Date): Cutoffs {
  const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000);
  return {
    now,
    seen: ago(limits.ssoSessionIdleTimeoutSeconds),
    started: ago(limits.ssoSessionMaxLifetimeSeconds),
    rememberedStarted: ago(limits.rememberMeLifetimeSeconds),
  };
}

/** Condition on a session `s`: it is alive. The cutoffs may be columns of the query. */
export const sessionLives = ({
  now,
  seen,
  started,
  rememberedStarted,
}: Cutoffs<Date | Fragment>) => fragment`s.expires_at > ${now}
  and case when s.remember_me then s.started_at > ${rememberedStarted}
           else s.last_seen_at > ${seen} and s.started_at > ${started} end
  and ${actingHolds}`;
