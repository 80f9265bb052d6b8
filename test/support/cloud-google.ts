// Owns: answers in the form of Google Cloud KMS, its token endpoints (service accounts, token exchange, impersonation) and the metadata
// server, as Google documents them. Assertions and checksums are checked, and encryption is real.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { jwtVerify } from 'jose/jwt/verify';
import { crc32c } from '../../server/custody/drivers/crc32c.ts';
import { type CloudAnswer, type CloudRequest, cloudKey, startCloudServer } from './cloud-server.ts';

const KEY = 'projects/example/locations/europe-west3/keyRings/realmkeeper/cryptoKeys/data-keys';
const METADATA = '/computeMetadata/v1/instance/service-accounts/default/token';
const SECONDS = 3600;

export async function startGoogle({ now = () => new Date() } = {}) {
  const key = cloudKey();
  const tokens = new Set<string>();
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const expected = { subjectToken: 'a.subject.token', changesBytes: false };
  const issue = () => {
    const token = `ya29.${randomBytes(24).toString('base64url')}`;
    tokens.add(token);
    return token;
  };
  const failure = (status: number, words: string, message: string): CloudAnswer => ({
    status,
    body: { error: { code: status, message, status: words } },
  });
  const issued = (): CloudAnswer => ({
    status: 200,
    body: { access_token: issue(), expires_in: SECONDS, token_type: 'Bearer' },
  });

  async function byAssertion(form: URLSearchParams): Promise<CloudAnswer> {
    try {
      const assertion = form.get('assertion') ?? '';
      const { payload } = await jwtVerify(assertion, pair.publicKey, {
        issuer: 'keys@example.iam.gserviceaccount.com',
        audience: `${server.address}/token`,
        currentDate: now(),
      });
      if (payload.scope === 'https://www.googleapis.com/auth/cloudkms') return issued();
    } catch {}
    return { status: 400, body: { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' } };
  }

  function exchange(form: URLSearchParams): CloudAnswer {
    if (
      form.get('subject_token') !== expected.subjectToken ||
      !form.get('audience')?.startsWith('//iam.googleapis.com/')
    )
      return {
        status: 400,
        body: { error: 'invalid_grant', error_description: `The token ${form.get('subject_token')} is not valid` },
      };
    return issued();
  }

  function kms({ url, headers, body }: CloudRequest): CloudAnswer {
    if (!tokens.has(headers.authorization?.replace('Bearer ', '') ?? ''))
      return failure(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.');
    const [, name, operation] = /^\/v1\/(.+):(encrypt|decrypt)$/.exec(url.pathname) ?? [];
    if (name !== KEY) return failure(404, 'NOT_FOUND', `CryptoKey ${name} not found.`);
    const asked: Record<string, string> = JSON.parse(body);
    const bytes = (field: string) => {
      const value = Buffer.from(asked[field] ?? '', 'base64');
      return asked[`${field}Crc32c`] === String(crc32c(value)) ? value : undefined;
    };
    const [bound, plain] = [
      bytes('additionalAuthenticatedData'),
      bytes(operation === 'encrypt' ? 'plaintext' : 'ciphertext'),
    ];
    if (!bound || !plain)
      return failure(400, 'INVALID_ARGUMENT', 'The checksum in field plaintext_crc32c did not match.');
    if (operation === 'decrypt') {
      const opened = key.decrypt(plain, bound.toString());
      if (!opened) return failure(400, 'INVALID_ARGUMENT', 'Decryption failed: the ciphertext is invalid.');
      const plaintextCrc32c = String(crc32c(opened) + Number(expected.changesBytes));
      return { status: 200, body: { plaintext: opened.toString('base64'), plaintextCrc32c, usedPrimary: true } };
    }
    const sealed = key.encrypt(plain, bound.toString());
    return {
      status: 200,
      body: {
        name: `${KEY}/cryptoKeyVersions/1`,
        ciphertext: sealed.toString('base64'),
        ciphertextCrc32c: String(crc32c(sealed)),
        verifiedPlaintextCrc32c: !expected.changesBytes,
        verifiedAdditionalAuthenticatedDataCrc32c: true,
        protectionLevel: 'SOFTWARE',
      },
    };
  }

  const server = await startCloudServer((request) => {
    const { method, url, headers, body } = request;
    switch (`${method} ${url.pathname}`) {
      case 'POST /token':
        return byAssertion(new URLSearchParams(body));
      case 'POST /v1/token':
        return exchange(new URLSearchParams(body));
      case `GET ${METADATA}`:
        return headers['metadata-flavor'] === 'Google' ? issued() : { status: 403, body: 'Missing Metadata-Flavor' };
    }
    if (url.pathname.endsWith(':generateAccessToken'))
      return tokens.delete(headers.authorization?.replace('Bearer ', '') ?? '')
        ? {
            status: 200,
            body: { accessToken: issue(), expireTime: new Date(now().getTime() + SECONDS * 1000).toISOString() },
          }
        : failure(401, 'UNAUTHENTICATED', 'no');
    return kms(request);
  });
  const { address } = server;
  return {
    ...server,
    uri: `gcpkms://${KEY}`,
    expected,
    revoke: () => tokens.clear(),
    serviceAccount: (privateKey = pair.privateKey) => ({
      type: 'service_account',
      client_email: 'keys@example.iam.gserviceaccount.com',
      private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      private_key_id: 'k1',
      token_uri: `${address}/token`,
    }),
    externalAccount: (file: string, { impersonates = false, format = {} } = {}) => ({
      type: 'external_account',
      audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/cluster',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: `${address}/v1/token`,
      credential_source: { file, ...format },
      ...(impersonates && {
        service_account_impersonation_url: `${address}/v1/projects/-/serviceAccounts/keys@example.iam.gserviceaccount.com:generateAccessToken`,
      }),
    }),
  };
}
