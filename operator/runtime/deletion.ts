// What deleting a resource does on the server: release, remove, or delete the realm. It ends well where there is nothing left.
// Decisions "Custom resources": nothing stays stuck, and nothing of someone else's is removed.
import { type Client, ServerProblem } from '../../server/contract/client.ts';
import { deleteRealm, getAdoption } from '../../server/contract/realms.ts';
import { releaseManager } from '../../server/contract/transfer.ts';
import type { Kind } from '../kinds/kind.ts';
import { managersOf } from '../managers.ts';
import { managerOf, type Resource } from '../resource.ts';

/** What of a kind deletion goes by. */
type Rules = Pick<Kind<{ realm: string }>, 'attached' | 'deletionPolicy'>;

interface Aim {
  realm: string;
  policy: 'Retain' | 'Delete';
}

/** What deletion needs of a spec; a spec that isn't even that much names nothing on the server. */
function aimOf(spec: unknown, kind: Rules): Aim | undefined {
  if (typeof spec !== 'object' || spec === null || !('realm' in spec) || typeof spec.realm !== 'string')
    return undefined;
  const asked = 'deletionPolicy' in spec ? spec.deletionPolicy : undefined;
  return { realm: spec.realm, policy: asked === 'Retain' || asked === 'Delete' ? asked : kind.deletionPolicy };
}

export function createDeletion({ client, clusterName }: { client: Client; clusterName: string }) {
  /** Asked of the server: a status may have been lost between the apply and its write, or be written by somebody else. */
  async function isTheirs(realm: string, manager: string): Promise<boolean> {
    const params = { realm };
    const adoption = await client.call(getAdoption, { params });
    if (adoption.body?.createdBy === manager) return true;
    return (await managersOf(client, realm)).includes(manager);
  }

  /** Answers what was done, in words. */
  return async (resource: Resource, kind: Rules): Promise<string> => {
    const aim = aimOf(resource.spec, kind);
    if (!aim) return 'deleted; its spec named no realm';
    const { realm, policy } = aim;
    const manager = managerOf(clusterName, resource);
    try {
      // A Realm resource that never came to apply owns nothing: it must not delete somebody else's realm.
      if (policy === 'Delete' && !kind.attached && (await isTheirs(realm, manager))) {
        await client.call(deleteRealm, { params: { realm } });
        return `deleted the realm ${realm}`;
      }
      const objects = policy === 'Delete' && kind.attached ? 'delete' : 'keep';
      await client.call(releaseManager, {
        params: { realm, '*': manager },
        query: { objects },
      });
      return objects === 'delete' ? `removed from the realm ${realm}` : `released; the realm ${realm} keeps it`;
    } catch (error) {
      // no realm, or nothing that this resource managed: there is nothing left to do
      if (error instanceof ServerProblem && error.status === 404) return 'nothing is left on the server';
      throw error;
    }
  };
}
