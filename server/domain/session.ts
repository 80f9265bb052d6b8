// When a person's session is alive, as one rule for whoever asks: sessions, refresh, introspection. Specification 2.3.
// Starting and ending sessions is features/people/sessions'.
import type { Party } from '../contract/events.ts';
import type { RealmSettingsDto } from '../contract/settings.ts';
import { type Fragment, fragment } from '../db/sql.ts';
import { actingHolds } from './acting.ts';
import { userParty } from './party.ts';

/** Whose a session is, and who acts in it for them. */
interface Acted {
  userId: string;
  username: string;
  impersonator: { id: string; name: string } | null;
}
export const personOf = ({ userId, username }: Acted): Party => userParty(userId, username);
export const actorOf = (session: Acted): Party => {
  const { impersonator } = session;
  return impersonator ? userParty(impersonator.id, impersonator.name) : personOf(session);
};

type Limits = Pick<
  RealmSettingsDto,
  'ssoSessionIdleTimeoutSeconds' | 'ssoSessionMaxLifetimeSeconds' | 'rememberMeLifetimeSeconds'
>;

/** Before these moments a session has ended: by inactivity, and by age as the settings now have it. */
export interface Cutoffs<Moment = Date> {
  now: Moment;
  seen: Moment;
  started: Moment;
  rememberedStarted: Moment;
}

export function cutoffsOf(limits: Limits, now: Date): Cutoffs {
  const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000);
  return {
    now,
    seen: ago(limits.ssoSessionIdleTimeoutSeconds),
    started: ago(limits.ssoSessionMaxLifetimeSeconds),
    rememberedStarted: ago(limits.rememberMeLifetimeSeconds),
  };
}

/** The condition, for a query that has the session as `s`; the cutoffs may be columns of it. */
export const sessionLives = ({
  now,
  seen,
  started,
  rememberedStarted,
}: Cutoffs<Date | Fragment>) => fragment`s.expires_at > ${now}
  and case when s.remember_me then s.started_at > ${rememberedStarted}
           else s.last_seen_at > ${seen} and s.started_at > ${started} end
  and ${actingHolds}`;
