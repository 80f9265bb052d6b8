// The credentials of AWS, from the first of these that the environment names: keys in variables, a web identity (EKS, IRSA), the
// container's endpoint (ECS, EKS Pod Identity); and else the instance's role by its metadata service, version 2 alone.
import { z } from 'zod';
import type { Config } from '../../config.ts';
import type { Outbound } from '../../http/outbound.ts';
import { CustodianError } from '../custodian.ts';
import type { AwsCredentials } from './aws-sign.ts';
import { addressIn, type Expiring, hostOf, named, secretIn } from './credentials.ts';
import { call, formHeaders, jsonCall, otherForm } from './json-call.ts';

/** Where ECS answers on the container's host. */
const ECS = 'http://169.254.170.2';
const INSTANCE = 'http://169.254.169.254';
const INSTANCE_TOKEN_SECONDS = '21600';
const ROLES = '/latest/meta-data/iam/security-credentials/';

/** The form in which containers and instances get them. */
const Given = z.object({
  AccessKeyId: z.string().min(1),
  SecretAccessKey: z.string().min(1),
  Token: z.string().min(1),
  Expiration: z.iso.datetime({ offset: true }),
});

const fromGiven = ({
  AccessKeyId,
  SecretAccessKey,
  Token,
  Expiration,
}: z.infer<typeof Given>): Expiring<AwsCredentials> => ({
  value: { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: Token },
  expires: new Date(Expiration),
});

export interface AwsSource {
  /** The hosts that it asks, for the guard of outbound requests. */
  hosts: readonly string[];
  load(outbound: Outbound): Promise<Expiring<AwsCredentials>>;
}

/** The element's text in an answer of STS, which has no attributes and no entities in these. */
const element = (xml: string, name: string): string | undefined =>
  new RegExp(`<${name}>([\\w+/=:.-]+)</${name}>`).exec(xml)?.[1];

function webIdentity(config: Config, { role, file, sts }: { role: string; file: string; sts: string }): AwsSource {
  return {
    hosts: [hostOf(sts)],
    load: (outbound) =>
      named('AWS_ROLE_ARN', async () => {
        const token = await secretIn(file, 'AWS_WEB_IDENTITY_TOKEN_FILE');
        const body = new URLSearchParams({
          Action: 'AssumeRoleWithWebIdentity',
          Version: '2011-06-15',
          RoleArn: role,
          RoleSessionName: config.AWS_ROLE_SESSION_NAME ?? 'realmkeeper',
          WebIdentityToken: token,
        }).toString();
        const headers = { ...formHeaders, accept: 'application/xml' };
        const xml = (await call(outbound, sts, { headers, body, secrets: [token] })).toString();
        const given = Given.safeParse({
          AccessKeyId: element(xml, 'AccessKeyId'),
          SecretAccessKey: element(xml, 'SecretAccessKey'),
          Token: element(xml, 'SessionToken'),
          Expiration: element(xml, 'Expiration'),
        });
        if (!given.success) throw otherForm(sts);
        return fromGiven(given.data);
      }),
  };
}

function container(config: Config, url: string, setting: string): AwsSource {
  const tokenOf = async (): Promise<string | undefined> =>
    config.AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE === undefined
      ? config.AWS_CONTAINER_AUTHORIZATION_TOKEN
      : secretIn(config.AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE, 'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE');
  return {
    hosts: [hostOf(url)],
    load: (outbound) =>
      named(setting, async () => {
        const token = await tokenOf();
        const headers: Record<string, string> = token === undefined ? {} : { authorization: token };
        const secrets = token === undefined ? [] : [token];
        return fromGiven(await jsonCall(outbound, url, { method: 'GET', headers, secrets, answer: Given }));
      }),
  };
}

function instance(address: string): AwsSource {
  return {
    hosts: [hostOf(address)],
    load: (outbound) =>
      named('the role of this instance', async () => {
        const token = await call(outbound, `${address}/latest/api/token`, {
          method: 'PUT',
          headers: { 'x-aws-ec2-metadata-token-ttl-seconds': INSTANCE_TOKEN_SECONDS },
        });
        const get = { method: 'GET', headers: { 'x-aws-ec2-metadata-token': token.toString().trim() } } as const;
        const [role = ''] = (await call(outbound, `${address}${ROLES}`, get)).toString().trim().split('\n');
        if (!/^[\w+=,.@-]+$/.test(role)) throw otherForm(address);
        return fromGiven(await jsonCall(outbound, `${address}${ROLES}${role}`, { ...get, answer: Given }));
      }),
  };
}

/** @throws CustodianError that names the variable */
export function awsSource(config: Config, sts: string): AwsSource {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = config;
  if (accessKeyId !== undefined || secretAccessKey !== undefined) {
    if (accessKeyId === undefined || secretAccessKey === undefined)
      throw new CustodianError('AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: must be set together', { away: false });
    const value = { accessKeyId, secretAccessKey, sessionToken: config.AWS_SESSION_TOKEN };
    return { hosts: [], load: async () => ({ value, expires: undefined }) };
  }
  const { AWS_ROLE_ARN: role, AWS_WEB_IDENTITY_TOKEN_FILE: file } = config;
  if (file !== undefined) {
    if (role === undefined)
      throw new CustodianError('AWS_ROLE_ARN: is needed too with AWS_WEB_IDENTITY_TOKEN_FILE', { away: false });
    return webIdentity(config, { role, file, sts });
  }
  const { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: relative, AWS_CONTAINER_CREDENTIALS_FULL_URI: full } = config;
  if (relative !== undefined) {
    const setting = 'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI';
    if (!relative.startsWith('/')) throw new CustodianError(`${setting}: must begin with a slash`, { away: false });
    return container(config, `${ECS}${relative}`, setting);
  }
  if (full !== undefined) {
    const setting = 'AWS_CONTAINER_CREDENTIALS_FULL_URI';
    return container(config, addressIn(full, setting, { agent: true }), setting);
  }
  if (config.AWS_EC2_METADATA_DISABLED?.toLowerCase() === 'true')
    throw new CustodianError('AWS_WEB_IDENTITY_TOKEN_FILE: no variable names credentials for AWS', { away: false });
  const variable = 'AWS_EC2_METADATA_SERVICE_ENDPOINT';
  return instance(addressIn(config.AWS_EC2_METADATA_SERVICE_ENDPOINT ?? INSTANCE, variable, { agent: true }));
}
