// Owns: answers in the form of HashiCorp Vault's Transit engine and its Kubernetes authentication, as Vault's API documentation has them
// (Vault itself can't be had where the tests run): encryption is real, tokens end, and it can be away or sealed.
// Does not own: the client (server/custody/drivers/vault.ts).
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { freePort } from './free-port.ts';

export interface Transit {
  /** For SVC_KEY_CUSTODIAN. */
  uri: string;
  token: string;
  /** What was asked for: method, path, and the headers that count. */
  asked: { method: string; path: string; namespace: string | undefined; token: string | undefined }[];
  /** What it answers instead: nothing (the port is closed), or a status with Vault's errors. */
  become(state: 'up' | 'away' | { status: number; errors: string[] }): Promise<void>;
  /** Tokens that it gave by a login count no longer. */
  revoke(): void;
  stop(): Promise<void>;
}

const KUBERNETES_JWT = 'a.service-account.token';

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text === '' ? {} : JSON.parse(text);
}

export async function startTransit({
  mount = 'transit',
  key = 'realmkeeper',
  scheme = 'hashivault',
} = {}): Promise<Transit> {
  const port = await freePort();
  const secret = randomBytes(32);
  const token = `hvs.${randomBytes(18).toString('base64url')}`;
  const leased = new Set<string>();
  const asked: Transit['asked'] = [];
  let failure: { status: number; errors: string[] } | undefined;

  const encrypt = (plain: Buffer): string => {
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', secret, iv);
    const body = Buffer.concat([cipher.update(plain), cipher.final()]);
    return `vault:v1:${Buffer.concat([iv, body, cipher.getAuthTag()]).toString('base64')}`;
  };
  const decrypt = (text: string): Buffer => {
    const bytes = Buffer.from(text.replace('vault:v1:', ''), 'base64');
    const decipher = createDecipheriv('aes-256-gcm', secret, bytes.subarray(0, 12), { authTagLength: 16 });
    decipher.setAuthTag(bytes.subarray(-16));
    return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]);
  };

  async function answer(request: IncomingMessage): Promise<{ status: number; body: object }> {
    const path = request.url ?? '';
    const header = (name: string) => request.headers[name]?.toString();
    const given = header('x-vault-token');
    asked.push({ method: request.method ?? '', path, namespace: header('x-vault-namespace'), token: given });
    const body = await bodyOf(request);
    if (failure) return { status: failure.status, body: { errors: failure.errors } };
    if (path === '/v1/auth/kubernetes/login') {
      if (body.jwt !== KUBERNETES_JWT || body.role !== 'realmkeeper')
        return { status: 403, body: { errors: ['permission denied'] } };
      const client_token = `hvs.${randomBytes(18).toString('base64url')}`;
      leased.add(client_token);
      const auth = { client_token, accessor: 'x', policies: ['default'], lease_duration: 3600, renewable: true };
      return {
        status: 200,
        body: { request_id: 'x', lease_id: '', renewable: false, lease_duration: 0, data: null, auth },
      };
    }
    if (given !== token && !leased.has(given ?? ''))
      return { status: 403, body: { errors: ['2 errors occurred: permission denied, invalid token'] } };
    const of = (data: object) => ({
      status: 200,
      body: { request_id: 'x', lease_id: '', renewable: false, lease_duration: 0, data, warnings: null },
    });
    if (path === `/v1/${mount}/encrypt/${key}`)
      return of({ ciphertext: encrypt(Buffer.from(String(body.plaintext), 'base64')), key_version: 1 });
    if (path === `/v1/${mount}/decrypt/${key}`) {
      try {
        return of({ plaintext: decrypt(String(body.ciphertext)).toString('base64') });
      } catch {
        return { status: 400, body: { errors: ['cipher: message authentication failed'] } };
      }
    }
    return { status: 404, body: { errors: [] } };
  }

  const server = createServer((request, response) => {
    void answer(request).then(({ status, body }) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  const open = async () => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const close = async () => {
    if (!server.listening) return;
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  await open();
  return {
    uri: `${scheme}://127.0.0.1:${port}/${mount}/${key}`,
    token,
    asked,
    async become(state) {
      failure = typeof state === 'object' ? state : undefined;
      if (state === 'away') await close();
      else if (!server.listening) await open();
    },
    revoke: () => leased.clear(),
    stop: close,
  };
}

/** The service account's token that its Kubernetes authentication accepts, for the role `realmkeeper`. */
export const serviceAccountToken = KUBERNETES_JWT;
