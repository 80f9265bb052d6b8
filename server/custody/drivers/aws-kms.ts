// AWS KMS: Encrypt and Decrypt by a symmetric key, over its JSON 1.1 protocol. awskms://REGION/KEY, where KEY is the id of the key, an
// alias or an ARN. Data keys are bound to an encryption context, which CloudTrail shows.
import { z } from 'zod';
import type { Config } from '../../config.ts';
import { type Custodian, WRAPPED_FOR } from '../custodian.ts';
import { awsSource } from './aws-credentials.ts';
import { signAws } from './aws-sign.ts';
import type { ByHttp } from './by-http.ts';
import { addressIn, authorized, hostOf, keepCredential } from './credentials.ts';
import { base64, jsonCall, type Refused } from './json-call.ts';

const Encrypted = z.object({ CiphertextBlob: base64 });
const Decrypted = z.object({ Plaintext: base64 });

const EXAMPLE = 'awskms://eu-central-1/alias/realmkeeper';
const ARN = /^arn:aws[a-z-]*:kms:([a-z0-9-]+):\d{12}:(?:key|alias)\/[\w/-]+$/;

/** Credentials that ended, were revoked, or are of a role that no longer exists. */
const REVOKED = /^(ExpiredToken|UnrecognizedClient|InvalidClientTokenId|InvalidSignature|IncompleteSignature)/;
const isRevoked = ({ code }: Refused): boolean => REVOKED.test(code);

/** @throws Error that names the variable */
function awsPlace(uri: string): { region: string; key: string } {
  const [, region = '', key = ''] = /^awskms:\/\/([a-z]{2}(?:-[a-z0-9]+)+)\/(.+)$/.exec(uri) ?? [];
  const ofArn = ARN.exec(key)?.[1];
  if (ofArn === undefined && !/^(alias\/[\w/-]+|[\w-]+)$/.test(key))
    throw new Error(
      `SVC_KEY_CUSTODIAN: must be awskms://REGION/KEY with the id of a key, an alias or an ARN, such as ${EXAMPLE}`,
    );
  if (ofArn !== undefined && ofArn !== region)
    throw new Error(`SVC_KEY_CUSTODIAN: the key's ARN is one of the region ${ofArn}, and not of ${region}`);
  return { region, key };
}

/** The address of a service in a region, or the one that the environment names. */
function endpoint(config: Config, service: 'kms' | 'sts', region: string): string {
  const variable = service === 'kms' ? 'AWS_ENDPOINT_URL_KMS' : 'AWS_ENDPOINT_URL_STS';
  const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  return addressIn(config[variable] ?? `https://${service}.${region}.${suffix}`, variable);
}

export function openAwsKms(uri: string, { config, outboundTo, now }: ByHttp): Custodian {
  const { region, key } = awsPlace(uri);
  const kms = endpoint(config, 'kms', region);
  const source = awsSource(config, endpoint(config, 'sts', region));
  const outbound = outboundTo([hostOf(kms), ...source.hosts]);
  const credential = keepCredential(() => source.load(outbound), now);
  const { host, pathname } = new URL(kms);

  const ask = <T>(operation: 'Encrypt' | 'Decrypt', parameters: object, answer: z.ZodType<T>): Promise<T> =>
    authorized(credential, isRevoked, (credentials) => {
      const body = JSON.stringify({ KeyId: key, EncryptionContext: { purpose: WRAPPED_FOR }, ...parameters });
      const { host: _, ...headers } = signAws(
        {
          method: 'POST',
          path: pathname,
          headers: { host, 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': `TrentService.${operation}` },
          body,
        },
        { credentials, region, service: 'kms', at: now() },
      );
      const secrets = [credentials.secretAccessKey, credentials.sessionToken ?? ''];
      return jsonCall(outbound, kms, { headers, body, secrets, answer });
    });

  return {
    name: uri,
    wrap: async (dataKey) =>
      (await ask('Encrypt', { Plaintext: dataKey.toString('base64') }, Encrypted)).CiphertextBlob,
    unwrap: async (wrapped) =>
      (await ask('Decrypt', { CiphertextBlob: wrapped.toString('base64') }, Decrypted)).Plaintext,
    close: () => outbound.close(),
  };
}
