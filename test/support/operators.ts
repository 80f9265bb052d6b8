// Owns: several operators beside each other on one cluster and one server, and who of them did what when.
// Does not own: the cluster and the server (landscape.ts). Each life of an operator is a user of its own at the cluster and has
// a way of its own to the server, so that what it did is told by those who received it.
import { stringify } from 'yaml';
import type { Cluster } from '../kubernetes/cluster.ts';
import type { Landscape, Program } from './landscape.ts';
import { eventually } from './operator.ts';
import { type Recorder, startRecorder } from './relay.ts';

/** A leader renews within two thirds of it, each try within one: no less than a machine may stand still for. */
export const LEASE_SECONDS = 12;
const GROUP = 'realmkeeper:operators';
/** Leases and a Role for them are here. */
const HOME = 'operators';

export interface Life {
  name: string;
  program: Program;
  way: Recorder;
}

/** An operator's rights: only those that it needs. */
const rights = [
  {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: HOME },
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: GROUP },
    rules: [
      { apiGroups: ['realmkeeper.dev'], resources: ['*'], verbs: ['get', 'list', 'watch', 'patch'] },
      { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
      { apiGroups: [''], resources: ['namespaces', 'configmaps'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: GROUP },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: GROUP },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: GROUP }],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: GROUP, namespace: HOME },
    rules: [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] }],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: GROUP, namespace: HOME },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: GROUP },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: GROUP }],
  },
];

export async function createOperators(land: Landscape<Cluster>) {
  await land.cluster.must(['apply', '-f', '-'], rights.map((one) => stringify(one)).join('---\n'));
  const lives: Life[] = [];
  let born = 0;

  async function lease(): Promise<{ holderIdentity?: string; leaseTransitions?: number; renewTime?: string }> {
    const { stdout } = await land.cluster.kubectl(['get', 'lease', 'realmkeeper-operator', '-n', HOME, '-o', 'json']);
    return JSON.parse(stdout).spec;
  }

  return {
    lives,
    lease,
    /** Deletes the lease, whose holder may be gone, so that the next operator needn't wait for its end. */
    forget: () => land.kubectl('delete', 'lease', 'realmkeeper-operator', '-n', HOME, '--ignore-not-found'),
    /**
     * @param kubeconfig another route to the cluster than the direct one
     * @param election false: it acts even beside another leader
     */
    async begin({ kubeconfig = (path: string) => Promise.resolve(path), election = true } = {}): Promise<Life> {
      born += 1;
      const name = `operator-${born}`;
      const file = await kubeconfig(await land.cluster.user(name, [GROUP]));
      const way = await startRecorder(land.serverUrl);
      const program = land.operatorLike(name, {
        args: [
          ...(election ? ['--lease-duration', String(LEASE_SECONDS)] : ['--no-leader-elect']),
          ...['--namespace', HOME],
        ],
        env: { KUBECONFIG: file, SVC_SERVER_URL: way.url },
      });
      const life = { name, program, way };
      lives.push(life);
      await program.start();
      return life;
    },
    /** Waits for a leader that is none of `but`. */
    leader: (...but: Life[]): Promise<Life> =>
      eventually(async () => {
        const { holderIdentity } = await lease();
        for (const life of lives) {
          if (
            holderIdentity &&
            !but.includes(life) &&
            (await life.program.said()).includes(`leading as ${holderIdentity}`)
          )
            return life;
        }
        throw new Error(`nobody leads; the Lease is held by ${holderIdentity}`);
      }),
    /** The order in which operators acted, as the server and the cluster saw it: an operator is named once for each of its turns. */
    async turns(): Promise<{ server: string[]; cluster: string[] }> {
      const asked = lives.flatMap(({ name, way }) => way.requests.map(({ at }) => ({ at, name })));
      const writes = (await land.cluster.requests()).filter(
        ({ user, resource }) => user.startsWith('operator-') && resource !== 'leases',
      );
      return {
        server: runsOf(asked.sort((a, b) => a.at - b.at).map(({ name }) => name)),
        cluster: runsOf(writes.map(({ user }) => user)),
      };
    },
    async stop(): Promise<void> {
      await Promise.all(lives.map(({ way }) => way.stop()));
    },
  };
}
export type Operators = Awaited<ReturnType<typeof createOperators>>;

const runsOf = (names: string[]): string[] => names.filter((name, i) => name !== names[i - 1]);
