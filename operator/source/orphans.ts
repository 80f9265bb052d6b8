// Finds objects that a folder applied before this start and no longer declares. The folder stores no status, so the
// server's record of managers is used; only managers with this folder's own cluster name count. Decisions "Custom
// resources" (managers).
import { allRows, type Client } from '../../server/contract/client.ts';
import { listRealms } from '../../server/contract/realms.ts';
import { managersOf } from '../managers.ts';
import { FINALIZER, kindNames, type Resource, resourceOf } from '../resource.ts';
import { underDeletion } from './folder.ts';

export async function orphansOf(
  client: Client,
  { clusterName, serverName }: { clusterName: string; serverName?: string | undefined },
): Promise<Resource[]> {
  const found: Resource[] = [];
  for await (const { realm } of allRows(client, listRealms)) {
    for (const manager of await managersOf(client, realm)) {
      const resource = resourceBehind(manager, clusterName, { realm, serverRef: serverName });
      if (resource) found.push(resource);
    }
  }
  return found;
}

function resourceBehind(manager: string, clusterName: string, spec: object): Resource | undefined {
  const prefix = `k8s:${clusterName}/`;
  if (!manager.startsWith(prefix)) return undefined;
  const [namespace, kindText, name, ...more] = manager.slice(prefix.length).split('/');
  const kind = kindNames.find((k) => k === kindText);
  if (!namespace || !kind || !name || more.length > 0) return undefined;
  return underDeletion(
    resourceOf(kind, { metadata: { name, namespace, uid: manager, finalizers: [FINALIZER] }, spec }),
  );
}
