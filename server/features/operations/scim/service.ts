// Composes the SCIM server below /realms/{realm}/scim/v2, and the provisioning of targets. Specification 4.11.
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Passwords } from '../../../crypto/passwords.ts';
import type { Seal } from '../../../crypto/seal.ts';
import type { RealmSql } from '../../../db/realm-share.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import type { Outbound } from '../../../http/outbound.ts';
import { endpointsOf } from '../../../http/realm-endpoints.ts';
import type { Job } from '../../../jobs/job.ts';
import type { EnqueueOptions } from '../../../jobs/queue.ts';
import { createResourceApi } from '../../../resource/api.ts';
import { sealed } from '../../../resource/at-rest.ts';
import { sealedAs } from '../../../resource/declared.ts';
import type { Resource } from '../../../resource/resource.ts';
import type { Holders } from '../../authentication/account/holder.ts';
import type { OwnDetails } from '../../authentication/account/own-details.ts';
import type { PersonGuard } from '../../authentication/account/surface.ts';
import type { Credentials } from '../../people/credentials/service.ts';
import { createGroupMembers } from '../../people/users/group-members.ts';
import { createUsers } from '../../people/users/service.ts';
import type { Access } from '../admin-access/service.ts';
import { createBulk } from './bulk.ts';
import { createScimGroups } from './groups.ts';
import { createScimMe } from './me.ts';
import { createScimProvisioning } from './provision.ts';
import { scimRoutes } from './routes.ts';
import { guardScim, type ScimSurface } from './surface.ts';
import { createScimTokens } from './tokens.ts';
import { createScimUsers } from './users.ts';

export interface ScimDeps {
  sql: Sql;
  realmSql: RealmSql;
  transact: Transact;
  access: Pick<Access, 'covers'>;
  passwords: Pick<Passwords, 'hash'>;
  credentials: Pick<Credentials, 'setPassword' | 'newPasswordFaults' | 'list' | 'remove'>;
  resources: { groups: Resource };
  /** Of /Me. */
  account: { details: OwnDetails; guard: PersonGuard; holders: Holders };
  realmExists(realm: string): Promise<boolean>;
  denied: ScimSurface['denied'];
  baseUrl: string;
  log: Logger;
  now: () => Date;
  newId: () => string;
  seal: Seal;
  outbound: Pick<Outbound, 'fetch'>;
  enqueue(sql: Sql, name: string, payloads: readonly object[], options?: EnqueueOptions): Promise<void>;
}

export function createScim(deps: ScimDeps): { mount(app: FastifyInstance): void; jobs: readonly Job[] } {
  const { sql, realmSql, transact, access, passwords, credentials, baseUrl, log, now, newId } = deps;
  const { account } = deps;
  const { groups } = deps.resources;
  const baseOf = (realm: string) => endpointsOf(baseUrl, realm).scim;
  const { newPasswordFaults, setPassword } = credentials;
  const people = createUsers({
    sql,
    transact,
    access,
    passwords,
    newPasswordFaults,
    setPassword,
    credentials,
    now,
    newId,
  });
  const scimUsers = createScimUsers({ sql, users: people, baseOf });
  const me = createScimMe({ sql, details: account.details, baseOf });
  const scimGroups = createScimGroups({
    sql,
    transact,
    requestsIn: (tx) => createResourceApi({ sql: tx.sql, transact: (_, work) => work(tx), parts: [groups], newId }),
    groups,
    changeMembers: createGroupMembers({ access }),
    baseOf,
  });
  const bulk = createBulk({
    users: scimUsers,
    groups: scimGroups,
    baseOf,
    failed: (err) => log.error({ err }, 'an operation of a SCIM bulk request failed'),
  });
  const tokens = createScimTokens({ sql, realmSql, transact, now, newId });
  const { open: openSecret } = sealed(deps.seal, sealedAs('scimTarget'));
  const { outbound, enqueue } = deps;
  const { jobs } = createScimProvisioning({ sql, outbound, openSecret, enqueue, now });
  return {
    jobs,
    mount(app) {
      const { realmExists, denied } = deps;
      const { byToken } = account.holders;
      guardScim(app, { realmExists, find: tokens.find, byToken, person: account.guard, denied });
      scimRoutes(app, { users: scimUsers, groups: scimGroups, me, bulk, baseOf });
    },
  };
}
