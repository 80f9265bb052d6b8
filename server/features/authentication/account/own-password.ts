// Whether the account page offers the user to set or change a password: the realm's flow asks for passwords or the user has
// one, and no directory keeps it.

import type { Flows } from '../../configuration/flows/service.ts';
import type { TreeNode } from '../../configuration/flows/tree.ts';
import type { PasswordSource } from '../../people/credentials/sources.ts';

const ASKS_FOR_IT = 'username-password';
const asksForIt = (nodes: readonly TreeNode[]): boolean =>
  nodes.some(
    ({ requirement, authenticatorId, children }) =>
      requirement !== 'DISABLED' && (authenticatorId === ASKS_FOR_IT || asksForIt(children)),
  );

export interface MayHavePasswordDeps {
  flows: Pick<Flows, 'treeFor'>;
  elsewhere: Pick<PasswordSource, 'keeperOf'>;
}

export const createMayHavePassword =
  ({ flows, elsewhere }: MayHavePasswordDeps) =>
  async (realm: string, userId: string, { has }: { has: boolean }): Promise<boolean> =>
    (has || asksForIt((await flows.treeFor(realm, undefined)).tree)) &&
    (await elsewhere.keeperOf(realm, userId)) === undefined;
export type MayHavePassword = ReturnType<typeof createMayHavePassword>;
