// Reads and writes the Lease (coordination.k8s.io) of the leader election, over connections of its own, so that no other
// request can delay a renewal. runtime/leader.ts decides. Design "Reconciler": Kubernetes behind a small port.
import { z } from 'zod';
import type { LeasePort, LeaseRecord } from '../runtime/leader.ts';
import { connect, undefinedIfMissing } from './api.ts';
import { ApiFailure } from './api-failure.ts';

const EPOCH = '1970-01-01T00:00:00Z';
const text = (missing: string) =>
  z
    .string()
    .nullish()
    .transform((value) => value ?? missing);
const count = z
  .number()
  .nullish()
  .transform((value) => value ?? 0);
const LeaseObject = z
  .object({
    spec: z
      .object({
        holderIdentity: text(''),
        leaseDurationSeconds: count,
        leaseTransitions: count,
        acquireTime: text(EPOCH),
        renewTime: text(EPOCH),
      })
      .loose()
      .default({
        holderIdentity: '',
        leaseDurationSeconds: 0,
        leaseTransitions: 0,
        acquireTime: EPOCH,
        renewTime: EPOCH,
      }),
  })
  .loose();

export interface LeaseOptions {
  kubeconfig: string | undefined;
  /** undefined: the pod's own namespace, or the kubeconfig's, or `default`. */
  namespace: string | undefined;
  name: string;
}

export function clusterLease({ kubeconfig, namespace: given, name }: LeaseOptions) {
  const api = connect(kubeconfig);
  const namespace = given ?? api.namespace;
  const collection = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
  /** The whole Lease as last seen, so that a write keeps others' labels and unknown fields. */
  let current: z.output<typeof LeaseObject> | undefined;

  /** @returns false if the answer says that another process wrote first */
  async function written(asked: Promise<unknown>, ...quicker: number[]): Promise<boolean> {
    try {
      current = LeaseObject.parse(await asked);
      return true;
    } catch (error) {
      if (error instanceof ApiFailure && quicker.includes(error.status)) return false;
      throw error;
    }
  }

  const port: LeasePort = {
    async read(signal) {
      const object = await undefinedIfMissing(api.call('GET', `${collection}/${name}`, { signal }));
      current = object === undefined ? undefined : LeaseObject.parse(object);
      return current && recordOf(current.spec);
    },
    async create(record, signal) {
      // by the label `realmctl doctor` finds it under any name
      const metadata = { name, labels: { 'app.kubernetes.io/part-of': 'realmkeeper' } };
      const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec: specOf(record) };
      // 404 means that the namespace does not exist, which must be reported
      return written(api.call('POST', collection, { body, signal }), 409);
    },
    async update(record, signal) {
      if (current === undefined) return false;
      const body = { ...current, spec: { ...current.spec, ...specOf(record) } };
      return written(api.call('PUT', `${collection}/${name}`, { body, signal }), 409, 404);
    },
  };
  return { ...port, described: `${namespace}/${name}`, close: () => api.close() };
}

const recordOf = (spec: z.output<typeof LeaseObject>['spec']): LeaseRecord => ({
  holderIdentity: spec.holderIdentity,
  leaseDurationSeconds: spec.leaseDurationSeconds,
  leaseTransitions: spec.leaseTransitions,
  acquireTime: new Date(spec.acquireTime),
  renewTime: new Date(spec.renewTime),
});

const specOf = (record: LeaseRecord) => ({
  holderIdentity: record.holderIdentity,
  leaseDurationSeconds: record.leaseDurationSeconds,
  leaseTransitions: record.leaseTransitions,
  acquireTime: micro(record.acquireTime),
  renewTime: micro(record.renewTime),
});

/** Kubernetes requires six digits here. */
const micro = (at: Date): string => at.toISOString().replace('Z', '000Z');
