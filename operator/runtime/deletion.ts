// Deletes a resource's objects on the server: releases them, removes them, or deletes the realm. Succeeds if none
// exist. Decisions "Custom resources": no deletion stays stuck, and no other manager's object is removed.
import { type Client, ServerProblem } from '../../server/contract/client.ts';
import { planDocument } from '../../server/contract/import-document.ts';
import { RealmName } from '../../server/contract/names.ts';
import { deleteRealm, getAdoption, getRealm, MASTER } from '../../server/contract/realms.ts';
import { type Plan, releaseManager } from '../../server/contract/transfer.ts';
import type { AnyKind } from '../kinds/kind.ts';
import { managersOf } from '../managers.ts';
import { managerOf, type Resource } from '../resource.ts';
import { Waiting } from './outcome.ts';
import type { Realms } from './realms.ts';

/** The fields of a kind that decide how its resources are deleted. */
type Rules = Pick<AnyKind, 'attached' | 'deletionPolicy'>;

interface Aim {
  realm: string;
  policy: 'Retain' | 'Delete';
}

/** How long to wait for an object that other objects need: those may be deleted soon, too. */
const IN_USE_MS = 30_000;
const TRIES = 5;

/** Reads the realm and the policy from a spec. A spec without a valid realm name has nothing on the server. */
function aimOf(spec: unknown, kind: Rules): Aim | undefined {
  if (typeof spec !== 'object' || spec === null || !('realm' in spec)) return undefined;
  const realm = RealmName.safeParse(spec.realm);
  if (!realm.success) return undefined;
  const asked = 'deletionPolicy' in spec ? spec.deletionPolicy : undefined;
  return { realm: realm.data, policy: asked === 'Retain' || asked === 'Delete' ? asked : kind.deletionPolicy };
}

const ofRealmResource = (manager: string): boolean => /^k8s:[^/]+\/[^/]+\/Realm\//.test(manager);

export function createDeletion({
  client,
  clusterName,
  realms,
  warn,
  now,
}: {
  client: Client;
  clusterName: string;
  realms: Pick<Realms, 'mayDeclare' | 'isDeclaredBeside' | 'isOfOthers'>;
  /** Reports which users a plan locks out. */
  warn(resource: Resource, plan: Plan): Promise<void>;
  now(): Date;
}) {
  /** Deletions that a warning was sent for, by the resource's uid. */
  const warned = new Set<string>();

  /**
   * Whether this resource may delete the whole realm. The server's answer decides, not the status: a status may have been
   * lost after the apply, or written by another account. A resource that was never applied may not, nor one that may no
   * longer declare the realm. Another Realm resource that manages or rightly declares the realm prevents it too: its realm
   * would be lost with all its users.
   * @returns the ETag to delete the realm by; undefined: this resource may not delete it
   */
  async function tagOfTheirs(resource: Resource, realm: string): Promise<string | undefined> {
    if (realm === MASTER) return undefined;
    const { etag } = await client.call(getRealm, { params: { realm } });
    const { body: adoption } = await client.call(getAdoption, { params: { realm } });
    if (!adoption || !realms.mayDeclare(resource, realm, adoption)) return undefined;
    if (realms.isDeclaredBeside(resource, realm, adoption)) return undefined;
    const manager = managerOf(clusterName, resource);
    const managers = await managersOf(client, realm);
    if (managers.some((other) => other !== manager && ofRealmResource(other))) return undefined;
    return adoption.createdBy === manager || managers.includes(manager) ? etag : undefined;
  }

  /** @returns false if the resource may not delete the realm */
  async function deleteTheirs(resource: Resource, realm: string): Promise<boolean> {
    for (let tries = 1; ; tries += 1) {
      const etag = await tagOfTheirs(resource, realm);
      if (etag === undefined) return false;
      await warnOf(resource, realm);
      try {
        await client.call(deleteRealm, { params: { realm }, headers: { 'if-match': etag } });
        return true;
      } catch (error) {
        // the realm has changed since it was read: another manager may have taken it
        if (tries === TRIES || !(error instanceof ServerProblem && error.status === 412)) throw error;
      }
    }
  }

  /**
   * Leaves the resource's objects on the server. A guest's object keeps its manager: an unowned flow would count as the
   * realm's own, and an unowned webhook would stay active without an owner.
   */
  async function leave(resource: Resource, realm: string, { attached }: Rules): Promise<string> {
    const { body: adoption } = await client.call(getAdoption, { params: { realm } });
    const manager = managerOf(clusterName, resource);
    if (attached && adoption && realms.isOfOthers(resource, realm, adoption))
      return `the realm ${realm} keeps it, as managed by ${manager}: it is another namespace’s realm`;
    await client.call(releaseManager, { params: { realm, manager }, query: { objects: 'keep' } });
    return `released; the realm ${realm} keeps it`;
  }

  /** Emits the plan's warnings before a removal. If the server rejects the plan, the removal happens without a warning. */
  async function warnOf(resource: Resource, realm: string): Promise<void> {
    const manager = managerOf(clusterName, resource);
    const { uid } = resource.metadata;
    if (warned.has(uid)) return;
    warned.add(uid);
    const removal = { realm, manager, document: {}, prune: true, force: false, mustExist: true };
    const plan = await planDocument(client, removal).catch((refusal: unknown) => {
      if (!(refusal instanceof ServerProblem)) throw refusal;
    });
    if (plan) await warn(resource, plan);
  }

  /** An object that a client or a flow needs can't be removed. It must not block the deletion of its namespace for good. */
  async function removeObjects(resource: Resource, realm: string, kind: Rules): Promise<string> {
    const manager = managerOf(clusterName, resource);
    try {
      await client.call(releaseManager, { params: { realm, manager }, query: { objects: 'delete' } });
      return `removed from the realm ${realm}`;
    } catch (error) {
      if (!(error instanceof ServerProblem && error.status === 409)) throw error;
      if (error.is('held')) throw new Waiting('Held', error.message);
      const deletedAt = Date.parse(resource.metadata.deletionTimestamp ?? '');
      if (now().getTime() < deletedAt + IN_USE_MS)
        throw new Waiting('InUse', `another object of the realm ${realm} still needs it`);
      return `${await leave(resource, realm, kind)}, because something there needs it`;
    }
  }

  /** @returns the result as text */
  return async (resource: Resource, kind: Rules): Promise<string> => {
    const aim = aimOf(resource.spec, kind);
    if (!aim) return 'deleted; its spec named no realm';
    const { realm, policy } = aim;
    try {
      if (policy === 'Retain') return await leave(resource, realm, kind);
      if (!kind.attached && (await deleteTheirs(resource, realm))) {
        warned.delete(resource.metadata.uid);
        return `deleted the realm ${realm}`;
      }
      await warnOf(resource, realm);
      const words = await removeObjects(resource, realm, kind);
      warned.delete(resource.metadata.uid);
      return words;
    } catch (error) {
      // no realm, or nothing that this resource managed: there is nothing left to do
      if (error instanceof ServerProblem && error.status === 404) return 'nothing is left on the server';
      throw error;
    }
  };
}
