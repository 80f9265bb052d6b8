// HashiCorp Vault and OpenBao: the Transit secrets engine, which has the same HTTP interface in both.
// hashivault://HOST[:PORT]/MOUNT/KEY. The server signs in by its Kubernetes service account (SVC_VAULT_ROLE), or by a token in a file.
import { z } from 'zod';
import type { Config } from '../../config.ts';
import { loopbackHosts } from '../../contract/names.ts';
import { type Custodian, CustodianError } from '../custodian.ts';
import type { ByHttp } from './by-http.ts';
import { secretIn } from './credentials.ts';
import { base64, jsonCall, Refused } from './json-call.ts';

const Encrypted = z.object({ data: z.object({ ciphertext: z.string().regex(/^vault:v\d+:/) }) });
const Decrypted = z.object({ data: z.object({ plaintext: base64 }) });
const Login = z.object({ auth: z.object({ client_token: z.string().min(1), lease_duration: z.int() }) });

const SERVICE_ACCOUNT_TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/** `hashivault://vault.example.com:8200/transit/realmkeeper`, apart. @throws Error that names the variable */
export function vaultPlace(uri: string): {
  scheme: string;
  host: string;
  hostname: string;
  mount: string;
  key: string;
} {
  const { protocol, host, hostname, pathname, search, username } = new URL(uri);
  const [, mount, key] = /^\/([\w./-]*[\w-])\/([\w.-]+)$/.exec(pathname) ?? [];
  if (
    mount === undefined ||
    key === undefined ||
    host === '' ||
    username !== '' ||
    search !== '' ||
    /\.\.|\/\//.test(mount)
  )
    throw new Error(
      `SVC_KEY_CUSTODIAN: must be ${protocol}//HOST:PORT/MOUNT/KEY, such as ${protocol}//vault.example.com:8200/transit/realmkeeper`,
    );
  return { scheme: protocol, host, hostname, mount, key };
}

/** Tokens of Vault: a new one once the file has another, or the lease is two thirds over. */
function createTokens(config: Config, login: (role: string, jwt: string) => Promise<z.infer<typeof Login>>) {
  let leased: { token: string; until: number } | undefined;
  return {
    async token(): Promise<string> {
      if (config.SVC_VAULT_TOKEN_FILE !== undefined)
        return secretIn(config.SVC_VAULT_TOKEN_FILE, 'SVC_VAULT_TOKEN_FILE');
      if (config.SVC_VAULT_ROLE === undefined)
        throw new CustodianError('SVC_VAULT_TOKEN_FILE or SVC_VAULT_ROLE must be set', { away: false });
      if (leased && leased.until > performance.now()) return leased.token;
      const jwt = await secretIn(config.SVC_VAULT_JWT_FILE ?? SERVICE_ACCOUNT_TOKEN, 'SVC_VAULT_JWT_FILE');
      const { auth } = await login(config.SVC_VAULT_ROLE, jwt);
      leased = { token: auth.client_token, until: performance.now() + (auth.lease_duration * 1000 * 2) / 3 };
      return leased.token;
    },
    /** @returns whether another token can be had */
    forget(): boolean {
      const had = leased !== undefined;
      leased = undefined;
      return had;
    },
  };
}

export function openVault(uri: string, { config, outboundTo }: ByHttp): Custodian {
  const { scheme, host, hostname, mount, key } = vaultPlace(uri);
  const address = `${loopbackHosts.has(hostname) ? 'http' : 'https'}://${host}`;
  const outbound = outboundTo([hostname.replace(/^\[|\]$/g, '')]);
  const namespace = config.SVC_VAULT_NAMESPACE;
  const always = { 'x-vault-request': 'true', ...(namespace !== undefined && { 'x-vault-namespace': namespace }) };
  const tokens = createTokens(config, (role, jwt) =>
    jsonCall(outbound, `${address}/v1/auth/${config.SVC_VAULT_AUTH_PATH}/login`, {
      headers: always,
      body: { role, jwt },
      answer: Login,
    }),
  );

  async function call<T>(
    operation: 'encrypt' | 'decrypt',
    body: object,
    answer: z.ZodType<T>,
    again = true,
  ): Promise<T> {
    const headers = { ...always, 'x-vault-token': await tokens.token() };
    try {
      return await jsonCall(outbound, `${address}/v1/${mount}/${operation}/${key}`, { headers, body, answer });
    } catch (error) {
      // The token was revoked before its lease was over.
      const revoked = error instanceof Refused && error.status === 403 && tokens.forget();
      if (!revoked || !again) throw error;
      return call(operation, body, answer, false);
    }
  }

  return {
    name: `${scheme}//${host}/${mount}/${key}`,
    wrap: async (dataKey) => {
      const { data } = await call('encrypt', { plaintext: dataKey.toString('base64') }, Encrypted);
      return Buffer.from(data.ciphertext);
    },
    unwrap: async (wrapped) => (await call('decrypt', { ciphertext: wrapped.toString() }, Decrypted)).data.plaintext,
    close: () => outbound.close(),
  };
}
