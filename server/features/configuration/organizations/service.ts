// Owns: the members of an organization, and the proof that it controls a domain.
// Does not own: the organization itself (resource.ts), its effect on tokens (claims).
// Implements: specification 4.10; decisions "Organization".
import { createHash } from 'node:crypto';
import type { By, EventType } from '../../../contract/events.ts';
import {
  type DomainVerification,
  Organization,
  type OrganizationMember,
  type UserOrganization,
} from '../../../contract/organizations.ts';
import { Problem } from '../../../contract/problem.ts';
import { codeOf, refersToNothing } from '../../../db/error-code.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import { userParty } from '../../../domain/party.ts';
import type { Caller, ResourceApi } from '../../../resource/api.ts';
import type { Resource } from '../../../resource/resource.ts';
import * as store from './store.ts';

/** The TXT records of a name, each as the list of its strings. @throws if DNS doesn't answer */
export type ResolveTxt = (name: string) => Promise<string[][]>;

export interface OrganizationsDeps {
  sql: Sql;
  transact: Transact;
  api: ResourceApi;
  resource: Resource;
  resolveTxt: ResolveTxt;
  now: () => Date;
}

const missing = () => new Problem('not-found', 'There is no such organization');
const toWire = (row: store.MemberRow): OrganizationMember => ({ ...row, joinedAt: row.joinedAt.getTime() });
const NO_SUCH_RECORD = new Set(['ENOTFOUND', 'ENODATA']);

/** The DNS record that proves control of a domain. It is always the same for one organization, and differs between organizations. */
const recordOf = (realm: string, id: string, domain: string): DomainVerification['record'] => {
  const token = createHash('sha256')
    .update(JSON.stringify([realm, id, domain]))
    .digest('base64url');
  return { type: 'TXT', name: domain, value: `realmkeeper-verification=${token}` };
};

export function createOrganizations({ sql, transact, api, resource, resolveTxt, now }: OrganizationsDeps) {
  const change = (
    by: By,
    realm: string,
    { id, userId }: { id: string; userId: string },
    { type, write }: { type: EventType; write: (on: Sql) => Promise<boolean> },
  ): Promise<void> =>
    transact(realm, async ({ sql: on, record }) => {
      const pair = await store.membershipNames(on, realm, id, userId);
      if (!pair) throw missing();
      if (pair.username === null) throw new Problem('not-found', 'There is no such user');
      const written = await write(on).catch((error: unknown) => {
        throw refersToNothing(error) ? new Problem('not-found', 'It was deleted meanwhile', { cause: error }) : error;
      });
      if (!written) return;
      const subject = userParty(userId, pair.username);
      record({ type, realm, by, subject, data: { organizationId: id, organization: pair.organization } });
    });

  /** Why the record can't be found; null: it exists. */
  async function faultOf({ name, value }: DomainVerification['record']): Promise<string | null> {
    try {
      const records = await resolveTxt(name);
      return records.some((pieces) => pieces.join('') === value) ? null : `${name} has no such TXT record yet`;
    } catch (error) {
      return NO_SUCH_RECORD.has(codeOf(error))
        ? `${name} has no such TXT record yet`
        : `the name servers of ${name} gave no answer; try again later`;
    }
  }

  return {
    async members(realm: string, id: string, after: string | undefined, limit: number): Promise<OrganizationMember[]> {
      if (!(await store.exists(sql, realm, id))) throw missing();
      return (await store.members(sql, realm, id, after, limit)).map(toWire);
    },

    async ofUser(realm: string, userId: string, after: string | undefined, limit: number): Promise<UserOrganization[]> {
      if (!(await store.userExists(sql, realm, userId))) throw new Problem('not-found', 'There is no such user');
      const rows = await store.organizationsOf(sql, realm, userId, after, limit);
      return rows.map((row) => ({ ...row, joinedAt: row.joinedAt.getTime() }));
    },

    add: (by: By, realm: string, at: { id: string; userId: string }): Promise<void> =>
      change(by, realm, at, {
        type: 'ORGANIZATION_MEMBER_ADDED',
        write: (on) => store.addMember(on, realm, at, now()),
      }),

    remove: (by: By, realm: string, at: { id: string; userId: string }): Promise<void> =>
      change(by, realm, at, {
        type: 'ORGANIZATION_MEMBER_REMOVED',
        write: (on) => store.removeMember(on, realm, at),
      }),

    async verify(caller: Caller, realm: string, id: string, name: string): Promise<DomainVerification> {
      const domainsOf = async () =>
        Organization.parse(resource.toWire(realm, await api.get(resource, realm, { id }))).domains;
      const domain = (await domainsOf()).find((d) => d.name === name);
      if (!domain) throw new Problem('not-found', 'The organization has no such domain');
      const record = recordOf(realm, id, name);
      if (domain.verified) return { name, verified: true, record, problem: null };
      const problem = await faultOf(record);
      if (problem !== null) return { name, verified: false, record, problem };
      const domains = (await domainsOf()).map((d) => (d.name === name ? { name, verified: true } : d));
      if (!domains.some((d) => d.name === name)) throw new Problem('not-found', 'The organization has no such domain');
      await api.replace(resource, caller, realm, { id }, { domains });
      return { name, verified: true, record, problem };
    },
  };
}
export type Organizations = ReturnType<typeof createOrganizations>;
