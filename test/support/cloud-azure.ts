// Owns: answers in the form of Azure Key Vault, Microsoft Entra ID's token endpoint and the endpoints of managed identities, as Microsoft
// documents them. Each version of the key is an RSA key, and encryption is real.
import {
  constants,
  generateKeyPairSync,
  type KeyObject,
  privateDecrypt,
  publicEncrypt,
  randomBytes,
} from 'node:crypto';
import { type CloudAnswer, type CloudRequest, startCloudServer } from './cloud-server.ts';

export const AZURE_TENANT = '11111111-2222-3333-4444-555555555555';
export const AZURE_CLIENT = '99999999-8888-7777-6666-555555555555';
const SECONDS = 3600;

export async function startAzure({ now = () => new Date() } = {}) {
  const tokens = new Set<string>();
  const expected = { assertion: 'a.federated.token', identityHeader: 'a-header-of-the-platform' };
  const versions = new Map<string, { publicKey: KeyObject; privateKey: KeyObject }>();
  const addVersion = (): string => {
    const version = randomBytes(16).toString('hex');
    versions.set(version, generateKeyPairSync('rsa', { modulusLength: 2048 }));
    return version;
  };
  const issue = () => {
    const token = `eyJ0eXAi.${randomBytes(24).toString('base64url')}`;
    tokens.add(token);
    return token;
  };
  const failure = (status: number, code: string, message: string): CloudAnswer => ({
    status,
    body: { error: { code, message } },
  });
  const padding = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' };
  const expiresOn = () => String(Math.floor(now().getTime() / 1000) + SECONDS);

  function vault({ url, headers, body }: CloudRequest): CloudAnswer {
    if (!tokens.has(headers.authorization?.replace('Bearer ', '') ?? ''))
      return failure(401, 'Unauthorized', 'AKV10000: Request is missing a Bearer or PoP token.');
    const [, name, version = '', operation] = /^\/keys\/([\w-]+)\/(\w+)\/((?:un)?wrapkey)$/.exec(url.pathname) ?? [];
    const key = versions.get(version);
    if (name !== 'realmkeeper' || !key || url.searchParams.get('api-version') !== '7.4')
      return failure(404, 'KeyNotFound', `A key with (name/id) ${name}/${version} was not found in this key vault.`);
    const asked: Record<string, string> = JSON.parse(body);
    if (asked.alg !== 'RSA-OAEP-256') return failure(400, 'BadParameter', 'Property alg has invalid value');
    const value = Buffer.from(asked.value ?? '', 'base64url');
    try {
      const result =
        operation === 'wrapkey'
          ? publicEncrypt({ key: key.publicKey, ...padding }, value)
          : privateDecrypt({ key: key.privateKey, ...padding }, value);
      return {
        status: 200,
        body: { kid: `${server.address}/keys/${name}/${version}`, value: result.toString('base64url') },
      };
    } catch {
      return failure(400, 'BadParameter', 'The parameter is incorrect.');
    }
  }

  function federated(body: string): CloudAnswer {
    const form = new URLSearchParams(body);
    const right =
      form.get('client_id') === AZURE_CLIENT &&
      form.get('scope') === 'https://vault.azure.net/.default' &&
      form.get('client_assertion_type') === 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer' &&
      form.get('client_assertion') === expected.assertion;
    return right
      ? {
          status: 200,
          body: { token_type: 'Bearer', expires_in: SECONDS, ext_expires_in: SECONDS, access_token: issue() },
        }
      : {
          status: 401,
          body: {
            error: 'invalid_client',
            error_description: `AADSTS700213: No matching federated identity record found for ${form.get('client_assertion')}.`,
          },
        };
  }

  const server = await startCloudServer((request) => {
    const { method, url, headers, body } = request;
    const forVault = url.searchParams.get('resource') === 'https://vault.azure.net';
    switch (`${method} ${url.pathname}`) {
      case `POST /${AZURE_TENANT}/oauth2/v2.0/token`:
        return federated(body);
      case 'GET /metadata/identity/oauth2/token':
        return headers.metadata === 'true' && forVault && url.searchParams.get('api-version') === '2018-02-01'
          ? {
              status: 200,
              body: {
                access_token: issue(),
                expires_in: String(SECONDS),
                expires_on: expiresOn(),
                token_type: 'Bearer',
              },
            }
          : {
              status: 400,
              body: { error: 'invalid_request', error_description: 'Required metadata header not specified' },
            };
      case 'GET /msi/token/':
        return headers['x-identity-header'] === expected.identityHeader && forVault
          ? { status: 200, body: { access_token: issue(), expires_on: expiresOn(), token_type: 'Bearer' } }
          : {
              status: 400,
              body: { statusCode: 400, message: `${headers['x-identity-header']} is no header of this app` },
            };
    }
    return vault(request);
  });
  const version = addVersion();
  const uriOf = (of: string) => `azurekeyvault://${server.host}/keys/realmkeeper/${of}`;
  return { ...server, uri: uriOf(version), uriOf, addVersion, expected, revoke: () => tokens.clear() };
}
