// The composition root's part for users as administrators keep them, with the roles and groups that they have.
// It decides nothing; rules are the features'. Specification 4.10; design "Composition root".
import type { FastifyInstance } from 'fastify';
import type { RealmSettingsDto } from './contract/settings.ts';
import type { Passwords } from './crypto/passwords.ts';
import type { Sql } from './db/sql.ts';
import type { Transact } from './db/transact.ts';
import { identityLinkRoutes } from './features/authentication/brokering/admin-routes.ts';
import type { Links } from './features/authentication/brokering/links.ts';
import { enrolmentLinkRoutes } from './features/authentication/enrolment-links/routes.ts';
import type { EnrolmentLinks } from './features/authentication/enrolment-links/service.ts';
import { impersonationRoutes } from './features/authentication/impersonation/routes.ts';
import { createImpersonation } from './features/authentication/impersonation/service.ts';
import type { Access } from './features/operations/admin-access/service.ts';
import type { Credentials } from './features/people/credentials/service.ts';
import type { Enrolments } from './features/people/devices/enrolment.ts';
import { enrolmentTokenRoutes } from './features/people/devices/routes.ts';
import type { Sessions } from './features/people/sessions/service.ts';
import { createUserAccess } from './features/people/users/access.ts';
import { userAccessRoutes } from './features/people/users/access-routes.ts';
import { membershipRoutes } from './features/people/users/membership-routes.ts';
import { createMemberships } from './features/people/users/memberships.ts';
import { userRoutes } from './features/people/users/routes.ts';
import { coverage, createUsers } from './features/people/users/service.ts';

export interface UserAdministrationDeps {
  sql: Sql;
  transact: Transact;
  access: Access;
  passwords: Passwords;
  credentials: Pick<Credentials, 'setPassword' | 'newPasswordFaults' | 'list' | 'remove' | 'lockout' | 'unlock'>;
  enrolments: Enrolments;
  enrolmentLinks: EnrolmentLinks;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  links: Links;
  sessions: Pick<Sessions, 'list' | 'planFor' | 'begin' | 'endOfActing'>;
  baseUrl: string;
  now: () => Date;
  newId: () => string;
}

export function createUserAdministration(deps: UserAdministrationDeps) {
  const {
    sql,
    transact,
    access,
    passwords,
    credentials,
    enrolments,
    enrolmentLinks,
    settings,
    links,
    sessions,
    baseUrl,
    now,
    newId,
  } = deps;
  const mustCover = coverage(access);
  const users = createUsers({
    sql,
    transact,
    access,
    passwords,
    newPasswordFaults: credentials.newPasswordFaults,
    setPassword: credentials.setPassword,
    credentials,
    now,
    newId,
  });
  return {
    mount(admin: FastifyInstance): void {
      userRoutes(admin, { users, sql });
      enrolmentTokenRoutes(admin, { transact, enrolments, mustCover });
      enrolmentLinkRoutes(admin, { links: enrolmentLinks, mustCover, settings, baseUrl });
      identityLinkRoutes(admin, { sql, transact, links, mustCover });
      membershipRoutes(admin, createMemberships({ sql, transact, mustCover }));
      impersonationRoutes(admin, createImpersonation({ sql, transact, access, sessions, baseUrl }));
      userAccessRoutes(admin, createUserAccess({ sql, transact, mustCover, credentials, sessions, now }));
    },
  };
}
