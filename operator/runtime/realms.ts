// Decides whether a resource may act on its realm, and what its status shows of it. Decisions "Custom resources" and
// "Tenancy": an attached resource needs a Realm that admits its namespace; an existing realm is adopted only if an
// administrator allows it.
import { getClientAdminRoles } from '../../server/contract/admin-access.ts';
import { allRows, type Client, ServerProblem } from '../../server/contract/client.ts';
import { listClients } from '../../server/contract/clients.ts';
import { type Adoption, getAdoption, getFormerRealm, MASTER } from '../../server/contract/realms.ts';
import type { AnyKind } from '../kinds/kind.ts';
import { realm as realmKind } from '../kinds/realm.ts';
import { isObserveOnly, managerOf, managersIn, type Resource, sameElsewhere } from '../resource.ts';
import type { Source } from '../source/source.ts';
import { Stalled, Waiting } from './outcome.ts';
import { byAge, mayBeNamed, type RealmNames, realmNameOf } from './realm-names.ts';
import { selects } from './selector.ts';
import { type Admission, sameResource } from './takeover.ts';

export interface Realms {
  /** @throws Waiting or Stalled if the resource may not (yet) be applied */
  admit(resource: Resource, kind: AnyKind, spec: { realm: string }): Promise<Admission>;
  /** Whether a Realm resource may declare an existing realm, by the server's record of its makers and managers. */
  mayDeclare(resource: Resource, realm: string, adoption: Adoption): boolean;
  /** Whether another Realm resource rightly declares the realm: one that replaces this one, or declares a part of it. */
  isDeclaredBeside(resource: Resource, realm: string, adoption: Adoption): boolean;
  /** Whether the realm belongs to another namespace, so that this one can at most attach to it. */
  isOfOthers(resource: Resource, realm: string, adoption: Adoption): boolean;
}

export interface RealmsOptions {
  source: Source;
  /** The resources that name the realm. */
  inRealm(realm: string): readonly Resource[];
  client: Client;
  clusterName: string;
  /** The operator's own namespace: only there `master` and existing realms can be declared freely. */
  operatorNamespace: string | undefined;
  /** Whether resources may attach to realms that no Realm resource declares. */
  undeclaredRealms: boolean;
  /** Namespaces whose Realm resources count; undefined: all. */
  realmNamespaces: ((labels: Readonly<Record<string, string>>) => boolean) | undefined;
  /** The names that they may use; undefined: any. */
  realmNames: RealmNames | undefined;
}

export function createRealms(options: RealmsOptions): Realms {
  const { source, inRealm, client, clusterName, operatorNamespace, undeclaredRealms } = options;
  const { realmNamespaces, realmNames } = options;
  const mayDeclare: Realms['mayDeclare'] = (...asked) => mayDeclareRealm({ clusterName, operatorNamespace }, ...asked);

  /** Realm resources that name the realm, whether they may declare it or not. */
  const declaring = (realm: string): Resource[] =>
    inRealm(realm).filter((r) => r.kind === 'Realm' && !r.metadata.deletionTimestamp);

  /** Why Realm resources of the namespace don't count for the realm; undefined: they do. */
  async function discounted(namespace: string, realm: string): Promise<string | undefined> {
    if (namespace === operatorNamespace) return undefined;
    const labels = realmNamespaces || realmNames?.by === 'label' ? await source.namespaceLabels(namespace) : {};
    if (realmNamespaces && !realmNamespaces(labels))
      return `Realm resources of the namespace ${namespace} do not count (--realm-namespaces)`;
    if (!realmNames) return undefined;
    const name = realmNameOf(realmNames, namespace, labels);
    if (name === undefined) return `the namespace ${namespace} may declare no realm (--realm-names)`;
    if (mayBeNamed(realm, name)) return undefined;
    return `the namespace ${namespace} may declare only ${name} and realms whose names begin with ${name}- (--realm-names)`;
  }
  const counts = async (namespace: string, realm: string): Promise<boolean> =>
    (await discounted(namespace, realm)) === undefined;

  /** The resource depends on namespaces' labels, which this operator may not read. */
  const isUnreadable = (resource: Resource): boolean => source.labelsUnreadable !== undefined && goesByLabels(resource);

  /**
   * Checks that a Realm resource may declare its realm; an existing realm of another creator needs a permission to
   * adopt it.
   * @returns whether the realm exists
   */
  async function admitRealm(resource: Resource, realm: string): Promise<boolean> {
    const { namespace } = resource.metadata;
    const why = await discounted(namespace, realm);
    if (why !== undefined) throw new Stalled('NamespaceNotAllowed', why);
    if (isUnreadable(resource)) {
      throw new Stalled(
        'NamespaceNotAllowed',
        `allowedNamespaces goes by labels of namespaces, and ${source.labelsUnreadable}: let it say Same or All`,
      );
    }
    const adoption = await adoptionOf(realm);
    if (namespace !== operatorNamespace && realm === MASTER)
      throw new Stalled('RealmProtected', `${MASTER} can be declared only in the operator's own namespace`);
    if (!adoption) {
      if (namespace !== operatorNamespace) await refuseTaken(resource, realm);
      return false;
    }
    if (mayDeclare(resource, realm, adoption)) return true;
    throw new Stalled(
      'RealmExists',
      `the realm ${realm} exists and was not made by this namespace; ${wayTo(resource, realm, adoption, 'an administrator can allow it')}`,
    );
  }

  /**
   * Refuses to create a realm that the server has lost, unless the resource may declare it by the server's record of
   * its creator. Without a record the oldest declaring Realm resource may: a later one can't take the name over.
   * @throws Stalled `RealmTaken`
   */
  async function refuseTaken(resource: Resource, realm: string): Promise<void> {
    const former = (await client.call(getFormerRealm, { params: { name: realm } }).catch(absent))?.body;
    if (former && (former.createdBy.startsWith('k8s:') || former.managers.length > 0)) {
      if (mayDeclare(resource, realm, former)) return;
      throw new Stalled(
        'RealmTaken',
        `the realm ${realm} was there before and not made by this namespace: it is others' to make again; ${wayTo(resource, realm, former, 'an administrator can make it and allow this')}`,
      );
    }
    if (await isFirst(resource, realm)) return;
    throw new Stalled(
      'RealmTaken',
      `a Realm resource of another namespace declared ${realm} before this one did, so only that resource may make the realm`,
    );
  }

  /** Advice how the resource can get the realm. */
  function wayTo(resource: Resource, realm: string, { createdBy }: Adoption, way: string): string {
    const other = sameElsewhere(clusterName, resource, createdBy);
    if (other !== undefined) return sameResource(other, clusterName);
    return `${way}: realmctl managers allow ${realm} '${managerOf(clusterName, resource)}'`;
  }

  async function isFirst({ metadata }: Resource, realm: string): Promise<boolean> {
    const others = new Map<string, boolean>([[metadata.namespace, true]]);
    for (const one of declaring(realm).toSorted(byAge)) {
      const { namespace } = one.metadata;
      const counting = others.get(namespace) ?? (await counts(namespace, realm));
      others.set(namespace, counting);
      if (counting && isApplicable(one)) return namespace === metadata.namespace;
    }
    return true;
  }

  /** Whether the spec is valid and permitted by itself, and more than observes. */
  function isApplicable(resource: Resource): boolean {
    const { success, data } = realmKind.spec.safeParse(resource.spec);
    if (!success || isUnreadable(resource) || isObserveOnly(data)) return false;
    return resource.metadata.namespace === operatorNamespace || !realmKind.givesAdminRoles?.(data);
  }

  const adoptionOf = async (realm: string): Promise<Adoption | undefined> =>
    (await client.call(getAdoption, { params: { realm } }).catch(absent))?.body;

  /** Whether a Realm resource admits a namespace, judged only by its spec. */
  async function letsIn({ metadata, spec }: Resource, realm: string, namespace: string): Promise<boolean> {
    const { success, data } = realmKind.spec.safeParse(spec);
    if (!success || data.realm !== realm) return false;
    const { from, selector } = data.allowedNamespaces ?? { from: 'Same' };
    if (metadata.namespace === namespace || from === 'All') return true;
    // no selector selects nothing, an empty one everything, as everywhere in Kubernetes
    if (from !== 'Selector' || !selector || source.labelsUnreadable !== undefined) return false;
    return selects(selector, await source.namespaceLabels(namespace));
  }

  /**
   * Namespaces of the Realm resources that admit this namespace. A Realm resource that is refused itself admits none.
   * Any tenant can write any number of such resources, so one request to the server distinguishes them, without parsing
   * them.
   * @throws Waiting if the realm doesn't exist: its owner can't be known yet
   */
  async function homesFor(namespace: string, realm: string, adoption: Adoption | undefined): Promise<string[]> {
    const homes: string[] = [];
    for (const one of entitled(realm, adoption)) {
      const home = one.metadata.namespace;
      if (!(await letsIn(one, realm, namespace)) || !(await counts(home, realm)) || isUnreadable(one)) continue;
      if (!adoption) throw new Waiting('RealmMissing', missing(one, namespace, realm));
      homes.push(home);
    }
    return homes;
  }

  /** The Realm resources that may declare the realm, even if they are invalid in another respect. */
  const entitled = (realm: string, adoption: Adoption | undefined): Resource[] =>
    adoption ? declaring(realm).filter((one) => mayDeclare(one, realm, adoption)) : declaring(realm);

  /**
   * Whether `--undeclared-realms` lets a namespace attach to the realm. If the realm is declared, its Realm resource
   * decides; a Realm resource that may not declare the realm has no effect.
   * @throws Waiting if the realm doesn't exist: the resource that creates it may declare it
   */
  async function isUndeclared(namespace: string, realm: string, adoption: Adoption | undefined): Promise<boolean> {
    if (!undeclaredRealms || (realm === MASTER && namespace !== operatorNamespace)) return false;
    if (!adoption) throw new Waiting('RealmMissing', `waiting for the realm ${realm} on the server`);
    for (const home of new Set(entitled(realm, adoption).map(({ metadata }) => metadata.namespace)))
      if (await counts(home, realm)) return false;
    return true;
  }

  async function admitAttached(
    { metadata: { namespace } }: Resource,
    realm: string,
    actsAs: string | undefined,
  ): Promise<Admission> {
    const adoption = undeclaredRealms || declaring(realm).length > 0 ? await adoptionOf(realm) : undefined;
    const homes = await homesFor(namespace, realm, adoption);
    if (homes.length === 0 && !(await isUndeclared(namespace, realm, adoption))) {
      // A Realm admits its own namespace, so one found here is not valid.
      const refused = declaring(realm).find((r) => r.metadata.namespace === namespace);
      if (refused)
        throw new Waiting(
          'RealmNotDeclared',
          `the Realm ${refused.metadata.name} in the namespace ${namespace} declares ${realm} and is itself refused: its own conditions say why`,
        );
      // The message doesn't mention Realm resources in other namespaces, because this namespace must not learn whether
      // they exist.
      throw new Waiting(
        'RealmNotDeclared',
        `waiting for a Realm resource that declares ${realm} and allows the namespace ${namespace}`,
      );
    }
    const atHome = homes.includes(namespace);
    const admission = { atHome, trusted: atHome || namespace === operatorNamespace, homes, isNew: false };
    if (actsAs === undefined || atHome || !(await holdsAdminRoles(realm, actsAs))) return admission;
    throw new Stalled(
      'AdminClient',
      `the client ${actsAs} holds admin roles: only a resource in the namespace of its Realm can act for it`,
    );
  }

  async function holdsAdminRoles(realm: string, clientId: string): Promise<boolean> {
    const found = await clientNamed(realm, clientId).catch(absent);
    if (!found) return false;
    const roles = await client.call(getClientAdminRoles, { params: { realm, id: found.id } }).catch(absent);
    return (roles?.body?.grants.length ?? 0) > 0;
  }

  async function clientNamed(realm: string, clientId: string) {
    for await (const found of allRows(client, listClients, { params: { realm }, query: { q: clientId } }))
      if (found.clientId === clientId) return found;
    return undefined;
  }

  return {
    mayDeclare,
    isDeclaredBeside: (resource, realm, adoption) =>
      entitled(realm, adoption).some(({ metadata }) => metadata.uid !== resource.metadata.uid),
    isOfOthers(resource, realm, adoption) {
      const homes = entitled(realm, adoption).map(({ metadata }) => metadata.namespace);
      if (mayDeclare(resource, realm, adoption) || homes.includes(resource.metadata.namespace)) return false;
      return homes.length > 0 || adoption.createdBy.startsWith('k8s:');
    },

    async admit(resource, kind, spec) {
      if (kind.givesAdminRoles?.(spec) && resource.metadata.namespace !== operatorNamespace) {
        throw new Stalled('AdminRoles', "admin roles can be given only from the operator's own namespace");
      }
      if (kind.attached) return admitAttached(resource, spec.realm, kind.actsAs?.(spec));
      const isNew = !(await admitRealm(resource, spec.realm));
      const homes = [resource.metadata.namespace, ...(operatorNamespace === undefined ? [] : [operatorNamespace])];
      return { atHome: true, trusted: true, homes, isNew };
    },
  };
}

/** Decides by the server's record of the realm: its creator, and the managers that an administrator lets adopt it. */
export function mayDeclareRealm(
  { clusterName, operatorNamespace }: Pick<RealmsOptions, 'clusterName' | 'operatorNamespace'>,
  resource: Resource,
  realm: string,
  { createdBy, managers }: Adoption,
): boolean {
  if (resource.metadata.namespace === operatorNamespace) return true;
  if (realm === MASTER) return false;
  const manager = managerOf(clusterName, resource);
  const ours = managersIn(clusterName, resource.metadata.namespace);
  return createdBy.startsWith(ours) || managers.some((pattern) => matches(pattern, manager));
}

/** Names the Realm resource only to its own namespace. */
function missing({ metadata, spec, status }: Resource, namespace: string, realm: string): string {
  if (metadata.namespace !== namespace) return `waiting for the realm ${realm} on the server`;
  if (isObserveOnly(spec)) return `waiting for the realm ${realm} on the server: the Realm ${metadata.name} only looks`;
  const stalled = status.conditions?.some((c) => c.type === 'Stalled' && c.status === 'True');
  return stalled
    ? `the Realm ${metadata.name}, which would make the realm ${realm}, is refused: its own conditions say why`
    : `waiting for the Realm ${metadata.name} to make the realm ${realm} on the server`;
}

const goesByLabels = ({ spec }: Resource): boolean =>
  realmKind.spec.safeParse(spec).data?.allowedNamespaces?.from === 'Selector';

/** A missing realm is no error here: it will be created. */
function absent(error: unknown): undefined {
  if (error instanceof ServerProblem && error.status === 404) return undefined;
  throw error;
}

/**
 * `*` matches any run of characters; everything else matches itself. The time is linear for every pattern, because
 * tenants write them.
 */
export function matches(pattern: string, manager: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return pattern === manager;
  if (!manager.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = manager.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return manager.length - at >= last.length && manager.endsWith(last);
}
