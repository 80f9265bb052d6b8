// Conditions of an unsaved tree that would tell the caller more of users than they may read: a guessed value behind a condition
// shows in the steps whether it is right. A saved flow is no guess, for saving needs `flows:write` and is audited. Pure.
import { canonicalJson } from '../../../contract/json.ts';
import { type FieldError, Problem } from '../../../contract/problem.ts';
import type { Sql } from '../../../db/sql.ts';
import { readProfile, visibleTo } from '../../../domain/user-profile.ts';
import type { AuthenticatorRecord } from '../../authentication/authenticators/authenticator.ts';
import type { TreeNode } from '../../configuration/flows/tree.ts';

interface Unsaved {
  tree: readonly TreeNode[];
  paths: ReadonlyMap<string, string>;
}

const flat = (nodes: readonly TreeNode[]): TreeNode[] => nodes.flatMap((node) => [node, ...flat(node.children)]);
const settingsOf = ({ authenticatorId, config }: TreeNode): string => canonicalJson([authenticatorId, config]);

export function createProbes({ sql, registry }: { sql: Sql; registry: readonly AuthenticatorRecord[] }) {
  const aboutUsers = new Set(
    registry.flatMap((entry) => (entry.category === 'CONDITION' && entry.needs === 'person' ? [entry.id] : [])),
  );

  /**
   * @param saved the present tree of the flow, whose conditions are no guess
   * @throws Problem `invalid-request` that names the conditions
   */
  return async function refuseProbes(
    realm: string,
    { tree, paths }: Unsaved,
    { saved, seesUsers }: { saved: readonly TreeNode[]; seesUsers: boolean },
  ): Promise<void> {
    const known = new Set(flat(saved).map(settingsOf));
    const asked = flat(tree).filter(
      (node) => aboutUsers.has(node.authenticatorId ?? '') && !known.has(settingsOf(node)),
    );
    if (asked.length === 0) return;
    const profile = seesUsers ? await readProfile(sql, realm) : undefined;
    const hides = (name: string) =>
      profile !== undefined && !Object.hasOwn(visibleTo(profile, 'admin', { [name]: [] }), name);
    const errors = asked.flatMap(({ executionId, authenticatorId, config }): FieldError[] => {
      const path = paths.get(executionId) ?? 'executions';
      if (!seesUsers)
        return [{ path, message: `a new condition on users (${authenticatorId}) needs the permission users:read` }];
      const attribute = config.attribute;
      return typeof attribute === 'string' && hides(attribute)
        ? [
            {
              path: `${path}.config.attribute`,
              message: `the user profile hides ${attribute} from administrators: save the condition before it is tried out`,
            },
          ]
        : [];
    });
    if (errors.length > 0)
      throw new Problem('invalid-request', errors.map(({ message }) => message).join('; '), { errors });
  };
}
export type RefuseProbes = ReturnType<typeof createProbes>;
