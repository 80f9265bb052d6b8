// What a flow's conditions look at beyond what was proven: who the person is, for whom it is, where the browser is. Read where
// a flow has a condition that asks, and not before somebody is known.
import type { FastifyRequest } from 'fastify';
import type { Sql } from '../../db/sql.ts';
import { type PersonRow, personColumns, personOf } from '../../domain/person.ts';
import type { AuthenticatorRecord, Circumstances, Condition } from '../authenticators/authenticator.ts';
import type { TreeNode } from '../flows/tree.ts';
import type { RiskService } from '../risk/service.ts';

export interface CircumstancesDeps {
  sql: Sql;
  registry: readonly AuthenticatorRecord[];
  risk: Pick<RiskService, 'knowsDevice'>;
}

interface Occasion {
  request: FastifyRequest;
  realm: string;
  clientId: string | undefined;
  /** undefined: nobody is known. */
  userId: string | undefined;
  /** Whether the browser is known, where that was looked at. */
  deviceKnown: boolean | undefined;
}

export function createCircumstances({ sql, registry, risk }: CircumstancesDeps) {
  const needs = new Map(
    registry.flatMap((entry) => (entry.category === 'CONDITION' && entry.needs ? [[entry.id, entry.needs]] : [])),
  );
  const looksAt = (tree: readonly TreeNode[], what: Condition['needs']): boolean =>
    tree.some(
      ({ authenticatorId, requirement, children }) =>
        requirement !== 'DISABLED' && (needs.get(authenticatorId ?? '') === what || looksAt(children, what)),
    );

  async function personWith(realm: string, userId: string): Promise<Circumstances['person']> {
    const [row] = await sql<PersonRow>`
      select ${personColumns} from realm_user u where u.realm_id = ${realm} and u.id = ${userId}`;
    return row && personOf(row);
  }

  return {
    looksAtDevice: (tree: readonly TreeNode[]): boolean => looksAt(tree, 'device'),

    async of(
      tree: readonly TreeNode[],
      { request, realm, clientId, userId, deviceKnown }: Occasion,
    ): Promise<Circumstances> {
      const asks = (what: Condition['needs']) => userId !== undefined && looksAt(tree, what);
      return {
        clientId,
        person: userId !== undefined && asks('person') ? await personWith(realm, userId) : undefined,
        browser: {
          address: request.ip,
          known:
            deviceKnown ??
            (userId !== undefined && asks('device') ? await risk.knowsDevice(request, realm, userId) : undefined),
        },
      };
    },
  };
}
