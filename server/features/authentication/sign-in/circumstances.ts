// The facts for a flow's conditions beyond the proofs: the user, the client and the browser. They are read only if the flow
// has such a condition and the user is known. The user is read as they will be after the sign-in.
import type { FastifyRequest } from 'fastify';
import type { By } from '../../../contract/events.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import { personOf, readPersonRow } from '../../../domain/person.ts';
import type { TreeNode } from '../../configuration/flows/tree.ts';
import type { AuthenticatorRecord, Circumstances, Condition } from '../authenticators/authenticator.ts';
import type { RiskService } from '../risk/service.ts';
import type { IdentifiedState } from './state.ts';

export interface CircumstancesDeps {
  sql: Sql;
  transact: Transact;
  registry: readonly AuthenticatorRecord[];
  risk: Pick<RiskService, 'knowsDevice'>;
}

interface Occasion {
  request: FastifyRequest;
  realm: string;
  clientId: string | undefined;
  /** undefined: the user is not known yet. */
  user: IdentifiedState['user'] | undefined;
  /** The pending changes of the user, written when the sign-in ends. */
  atEnd?: IdentifiedState['atEnd'];
  /** Whether the browser is known for the user, if that was checked. */
  deviceKnown: boolean | undefined;
}

/** Rolls back the transaction in which the user was read as they will be. */
class Foreseen extends Error {
  readonly person: Circumstances['person'];
  constructor(person: Circumstances['person']) {
    super('foreseen');
    this.person = person;
  }
}

export function createCircumstances({ sql, transact, registry, risk }: CircumstancesDeps) {
  const needs = new Map(
    registry.flatMap((entry) => (entry.category === 'CONDITION' && entry.needs ? [[entry.id, entry.needs]] : [])),
  );
  const looksAt = (tree: readonly TreeNode[], what: Condition['needs']): boolean =>
    tree.some(
      ({ authenticatorId, requirement, children }) =>
        requirement !== 'DISABLED' && (needs.get(authenticatorId ?? '') === what || looksAt(children, what)),
    );

  async function personWith(on: Sql, realm: string, userId: string): Promise<Circumstances['person']> {
    const row = await readPersonRow(on, realm, userId);
    return row && personOf(row);
  }

  /**
   * Applies the pending changes, reads the user, and rolls back. So the conditions judge the user as they will be, and
   * nothing is written before the sign-in ends.
   */
  async function foreseen(
    by: By,
    realm: string,
    user: IdentifiedState['user'],
    atEnd: NonNullable<IdentifiedState['atEnd']>,
  ) {
    try {
      return await transact<Circumstances['person']>(realm, async (tx) => {
        for (const entry of registry) {
          const kept = atEnd[entry.id];
          if (kept && entry.category === 'METHOD') await entry.foresee?.(tx, { realm, by, user, kept });
        }
        throw new Foreseen(await personWith(tx.sql, realm, user.id));
      });
    } catch (error) {
      if (error instanceof Foreseen) return error.person;
      throw error;
    }
  }

  return {
    looksAtDevice: (tree: readonly TreeNode[]): boolean => looksAt(tree, 'device'),

    async of(
      tree: readonly TreeNode[],
      { request, realm, clientId, user, atEnd, deviceKnown }: Occasion,
    ): Promise<Circumstances> {
      const asks = (what: Condition['needs']) => user !== undefined && looksAt(tree, what);
      const by = { actor: null, ipAddress: request.ip };
      const person = async () => user && (atEnd ? foreseen(by, realm, user, atEnd) : personWith(sql, realm, user.id));
      return {
        clientId,
        person: asks('person') ? await person() : undefined,
        browser: {
          address: request.ip,
          known: deviceKnown ?? (user && asks('device') ? await risk.knowsDevice(request, realm, user.id) : undefined),
        },
      };
    },
  };
}
