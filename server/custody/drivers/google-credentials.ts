// Access tokens of Google Cloud: from the file of GOOGLE_APPLICATION_CREDENTIALS (the key of a service account, or an identity that a
// token in another file proves: AIP-4117), and without it from the metadata server.
import { SignJWT } from 'jose/jwt/sign';
import { importPKCS8 } from 'jose/key/import';
import { z } from 'zod';
import type { Config } from '../../config.ts';
import { isLoopback } from '../../contract/names.ts';
import type { Outbound } from '../../http/outbound.ts';
import { CustodianError } from '../custodian.ts';
import { type Expiring, endsIn, named, secretIn, textIn } from './credentials.ts';
import { formHeaders, jsonCall } from './json-call.ts';

const SETTING = 'GOOGLE_APPLICATION_CREDENTIALS';
const SCOPE = 'https://www.googleapis.com/auth/cloudkms';
/** What the exchanged token needs to become a service account's. */
const BEFORE_IMPERSONATION = 'https://www.googleapis.com/auth/cloud-platform';
const METADATA = 'metadata.google.internal';

/** A file from elsewhere must not send a token anywhere else. */
const ofGoogle = z
  .url({ protocol: /^https?$/ })
  .refine(
    (address) => isLoopback(address) || /^https:\/\/([\w-]+\.)+googleapis\.com\//.test(address),
    'must be an https address of googleapis.com',
  );

const ServiceAccount = z.object({
  type: z.literal('service_account'),
  client_email: z.string().min(1),
  private_key: z.string().startsWith('-----BEGIN PRIVATE KEY-----'),
  private_key_id: z.string().optional(),
  token_uri: ofGoogle.default('https://oauth2.googleapis.com/token'),
});
const ExternalAccount = z.object({
  type: z.literal('external_account'),
  audience: z.string().min(1),
  subject_token_type: z.string().min(1),
  token_url: ofGoogle,
  service_account_impersonation_url: ofGoogle.optional(),
  credential_source: z.object({
    file: z.string('must be a file').min(1),
    format: z
      .discriminatedUnion('type', [
        z.object({ type: z.literal('text') }),
        z.object({ type: z.literal('json'), subject_token_field_name: z.string().min(1) }),
      ])
      .default({ type: 'text' }),
  }),
});
const CredentialFile = z.discriminatedUnion('type', [ServiceAccount, ExternalAccount], {
  error: 'must be service_account or external_account',
});

const Token = z.object({ access_token: z.string().min(1), expires_in: z.number().positive() });
const Impersonated = z.object({ accessToken: z.string().min(1), expireTime: z.iso.datetime({ offset: true }) });

interface Ways {
  outbound: Outbound;
  now: () => Date;
}

const fromToken = ({ access_token, expires_in }: z.infer<typeof Token>, now: () => Date): Expiring<string> => ({
  value: access_token,
  expires: endsIn(expires_in, now),
});

async function byKey(account: z.infer<typeof ServiceAccount>, { outbound, now }: Ways): Promise<Expiring<string>> {
  const at = Math.floor(now().getTime() / 1000);
  const key = await importPKCS8(account.private_key, 'RS256').catch((cause: unknown) => {
    throw new CustodianError(`${SETTING}: private_key is no key in PKCS #8`, { away: false, cause });
  });
  const assertion = await new SignJWT({ scope: SCOPE })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(account.private_key_id && { kid: account.private_key_id }) })
    .setIssuer(account.client_email)
    .setAudience(account.token_uri)
    .setIssuedAt(at)
    .setExpirationTime(at + 3600)
    .sign(key);
  const body = new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion });
  const request = { headers: formHeaders, body: body.toString(), secrets: [assertion] };
  return fromToken(await jsonCall(outbound, account.token_uri, { ...request, answer: Token }), now);
}

async function subjectToken({ credential_source: { file, format } }: z.infer<typeof ExternalAccount>): Promise<string> {
  if (format.type === 'text') return secretIn(file, SETTING);
  const text = await textIn(file, SETTING);
  try {
    const content = z.record(z.string(), z.unknown()).parse(JSON.parse(text));
    return z.string().min(1).parse(content[format.subject_token_field_name]);
  } catch {
    throw new CustodianError(`${SETTING}: ${file} has no ${format.subject_token_field_name}`, { away: true });
  }
}

async function byExchange(
  account: z.infer<typeof ExternalAccount>,
  { outbound, now }: Ways,
): Promise<Expiring<string>> {
  const impersonation = account.service_account_impersonation_url;
  const token = await subjectToken(account);
  const body = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    audience: account.audience,
    scope: impersonation === undefined ? SCOPE : BEFORE_IMPERSONATION,
    requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    subject_token: token,
    subject_token_type: account.subject_token_type,
  });
  const request = { headers: formHeaders, body: body.toString(), secrets: [token] };
  const federated = await jsonCall(outbound, account.token_url, { ...request, answer: Token });
  if (impersonation === undefined) return fromToken(federated, now);
  const { accessToken, expireTime } = await jsonCall(outbound, impersonation, {
    headers: { authorization: `Bearer ${federated.access_token}` },
    body: { scope: [SCOPE] },
    secrets: [federated.access_token],
    answer: Impersonated,
  });
  return { value: accessToken, expires: new Date(expireTime) };
}

/** The file is read each time, so that a replaced one counts. */
async function credentialFile(file: string) {
  const text = await textIn(file, SETTING);
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw new CustodianError(`${SETTING}: ${file} is not JSON`, { away: false });
  }
  const { data, error } = CredentialFile.safeParse(content);
  if (data) return data;
  const faults = error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
  throw new CustodianError(`${SETTING}: ${file}: ${faults}`, { away: false });
}

/** The hosts that are asked for tokens, for the guard of outbound requests. */
export const googleHosts = (config: Config): string[] =>
  config.GOOGLE_APPLICATION_CREDENTIALS === undefined
    ? [new URL(metadata(config)).hostname]
    : ['oauth2.googleapis.com', 'sts.googleapis.com', 'iamcredentials.googleapis.com'];

const metadata = ({ GCE_METADATA_HOST: host = METADATA }: Config): string => {
  if (!/^[\w.-]+(:\d+)?$/.test(host))
    throw new CustodianError('GCE_METADATA_HOST: must be a host, with a port if need be', { away: false });
  return `http://${host}/computeMetadata/v1/instance/service-accounts/default/token`;
};

/** @throws CustodianError that names the setting */
export function googleToken(config: Config, ways: Ways): Promise<Expiring<string>> {
  const file = config.GOOGLE_APPLICATION_CREDENTIALS;
  if (file === undefined)
    return named('the metadata server', async () => {
      const headers = { 'metadata-flavor': 'Google' };
      return fromToken(
        await jsonCall(ways.outbound, metadata(config), { method: 'GET', headers, answer: Token }),
        ways.now,
      );
    });
  return named(SETTING, async () => {
    const account = await credentialFile(file);
    return account.type === 'service_account' ? byKey(account, ways) : byExchange(account, ways);
  });
}
