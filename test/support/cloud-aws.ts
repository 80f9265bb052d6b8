// Owns: answers in the form of AWS KMS, STS, the endpoints for credentials of containers (ECS, EKS Pod Identity) and version 2 of the
// instance's metadata service, as AWS documents them. Signatures are checked, and encryption is real.
import { randomBytes } from 'node:crypto';
import { type AwsCredentials, signAws } from '../../server/custody/drivers/aws-sign.ts';
import { type CloudAnswer, type CloudRequest, cloudKey, startCloudServer } from './cloud-server.ts';

export const AWS_REGION = 'eu-central-1';
export const AWS_ROLE = 'arn:aws:iam::111122223333:role/realmkeeper';
const SECONDS = 3600;

export async function startAws({ now = () => new Date() } = {}) {
  const key = cloudKey();
  const issued = new Map<string, AwsCredentials>();
  const metadataToken = randomBytes(20).toString('base64url');
  const expected = { webIdentity: 'a.web.identity', container: 'a.pod.token' };

  function issue(): AwsCredentials {
    const credentials = {
      accessKeyId: `ASIA${randomBytes(8).toString('hex').toUpperCase()}`,
      secretAccessKey: randomBytes(30).toString('base64'),
      sessionToken: randomBytes(60).toString('base64'),
    };
    issued.set(credentials.accessKeyId, credentials);
    return credentials;
  }
  const ends = () => new Date(now().getTime() + SECONDS * 1000).toISOString().replace(/\.\d+/, '');
  const given = () => {
    const { accessKeyId, secretAccessKey, sessionToken } = issue();
    return {
      AccessKeyId: accessKeyId,
      SecretAccessKey: secretAccessKey,
      Token: sessionToken,
      Expiration: ends(),
    };
  };
  const failure = (type: string, message: string): CloudAnswer => ({ status: 400, body: { __type: type, message } });

  function sts(body: string): CloudAnswer {
    const form = new URLSearchParams(body);
    const right =
      form.get('Action') === 'AssumeRoleWithWebIdentity' &&
      form.get('Version') === '2011-06-15' &&
      form.get('RoleArn') === AWS_ROLE &&
      form.get('WebIdentityToken') === expected.webIdentity;
    if (!right)
      return {
        status: 400,
        body: `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>InvalidIdentityToken</Code><Message>The token ${form.get('WebIdentityToken')} could not be validated</Message></Error><RequestId>x</RequestId></ErrorResponse>`,
      };
    const { AccessKeyId, SecretAccessKey, Token, Expiration } = given();
    return {
      status: 200,
      body: `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <AssumeRoleWithWebIdentityResult>
    <AssumedRoleUser><Arn>arn:aws:sts::111122223333:assumed-role/realmkeeper/x</Arn><AssumedRoleId>AROAX:x</AssumedRoleId></AssumedRoleUser>
    <Credentials>
      <SessionToken>${Token}</SessionToken>
      <SecretAccessKey>${SecretAccessKey}</SecretAccessKey>
      <Expiration>${Expiration}</Expiration>
      <AccessKeyId>${AccessKeyId}</AccessKeyId>
    </Credentials>
  </AssumeRoleWithWebIdentityResult>
  <ResponseMetadata><RequestId>x</RequestId></ResponseMetadata>
</AssumeRoleWithWebIdentityResponse>`,
    };
  }

  function refusal({ headers, body }: CloudRequest): CloudAnswer | undefined {
    const [, id = '', region = '', names = ''] =
      /^AWS4-HMAC-SHA256 Credential=(\w+)\/\d{8}\/([\w-]+)\/kms\/aws4_request, SignedHeaders=([\w;-]+), Signature=\w+$/.exec(
        headers.authorization ?? '',
      ) ?? [];
    if (region !== AWS_REGION)
      return failure('InvalidSignatureException', `Credential should be scoped to a valid region, not '${region}'. `);
    const credentials = issued.get(id);
    if (!credentials)
      return failure('UnrecognizedClientException', 'The security token included in the request is invalid.');
    const signed = names.split(';').filter((name) => !/^x-amz-(date|security-token)$/.test(name));
    const again = signAws(
      {
        method: 'POST',
        path: '/',
        headers: Object.fromEntries(signed.map((name) => [name, String(headers[name])])),
        body,
      },
      { credentials, region, service: 'kms', at: new Date(dateOf(String(headers['x-amz-date']))) },
    );
    if (again.authorization === headers.authorization) return undefined;
    return failure(
      'InvalidSignatureException',
      `The Canonical String for this request should have been 'POST\n/\n\nx-amz-security-token:${String(headers['x-amz-security-token'])}\n'`,
    );
  }

  function kms(request: CloudRequest): CloudAnswer {
    const refused = refusal(request);
    if (refused) return refused;
    const asked: Record<string, unknown> = JSON.parse(request.body);
    if (asked.KeyId !== 'alias/realmkeeper')
      return failure('NotFoundException', `Alias arn:aws:kms:${AWS_REGION}:111122223333:${asked.KeyId} is not found.`);
    const bound = JSON.stringify(asked.EncryptionContext);
    const KeyId = `arn:aws:kms:${AWS_REGION}:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab`;
    const EncryptionAlgorithm = 'SYMMETRIC_DEFAULT';
    if (request.headers['x-amz-target'] === 'TrentService.Encrypt') {
      const CiphertextBlob = key.encrypt(Buffer.from(String(asked.Plaintext), 'base64'), bound).toString('base64');
      return { status: 200, body: { CiphertextBlob, EncryptionAlgorithm, KeyId } };
    }
    const plain = key.decrypt(Buffer.from(String(asked.CiphertextBlob), 'base64'), bound);
    if (!plain) return { status: 400, body: { __type: 'InvalidCiphertextException' } };
    return { status: 200, body: { EncryptionAlgorithm, KeyId, Plaintext: plain.toString('base64') } };
  }

  const server = await startCloudServer((request) => {
    const { method, url, headers, body } = request;
    switch (`${method} ${url.pathname}`) {
      case 'POST /':
        return kms(request);
      case 'POST /sts':
        return sts(body);
      case 'GET /v1/credentials':
        return headers.authorization === expected.container
          ? { status: 200, body: { ...given(), AccountId: '111122223333' } }
          : { status: 400, body: { code: 'InvalidToken', message: `${headers.authorization} is not valid` } };
      case 'PUT /latest/api/token':
        return headers['x-aws-ec2-metadata-token-ttl-seconds'] === undefined
          ? { status: 400, body: '' }
          : { status: 200, body: metadataToken };
    }
    const roles = '/latest/meta-data/iam/security-credentials/';
    // version 1, without a token, is off
    if (headers['x-aws-ec2-metadata-token'] !== metadataToken) return { status: 401, body: '' };
    if (url.pathname === roles) return { status: 200, body: 'realmkeeper' };
    if (url.pathname === `${roles}realmkeeper`)
      return { status: 200, body: { Code: 'Success', Type: 'AWS-HMAC', LastUpdated: ends(), ...given() } };
    return { status: 404, body: '' };
  });
  return { ...server, uri: `awskms://${AWS_REGION}/alias/realmkeeper`, expected, issue, revoke: () => issued.clear() };
}

const dateOf = (text: string) => text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z');
