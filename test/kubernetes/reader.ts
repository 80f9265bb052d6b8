// Owns: reading one object of a cluster by HTTPS, for tests that poll: each kubectl takes a tenth of a second of processor time.
// Does not own: the commands of users, which tests run by kubectl (cluster.ts).
import https from 'node:https';
import { text } from 'node:stream/consumers';
import type { Identity } from './identity.ts';

/** An object as `kubectl get -o json` shows it. */
export interface Shown {
  metadata: { name: string; uid: string; generation: number; resourceVersion: string; [more: string]: unknown };
  status?: {
    conditions?: { type: string; status: string; reason: string; message: string; observedGeneration: number }[];
    [more: string]: unknown;
  };
  /** Of a Secret. */
  data?: Record<string, string>;
}

/** The reader reads an object by its path, as the administrator. Where no object is, it throws the message of the API server. */
export const createReader =
  (server: string, { ca, admin }: Pick<Identity, 'ca' | 'admin'>) =>
  async (path: string): Promise<Shown> => {
    // a connection for each request: a restart of the API server breaks a connection that is kept
    const options = { ca, cert: admin.certPem, key: admin.keyPem, agent: false };
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number | undefined; body: string }>();
    https
      .get(new URL(path, server), options, (response) => {
        text(response).then((body) => resolve({ status: response.statusCode, body }), reject);
      })
      .on('error', reject);
    const { status, body } = await promise;
    const found = JSON.parse(body);
    if (status !== 200) throw new Error(`${path}: ${found.message}`);
    delete found.metadata.managedFields;
    return found;
  };
