// AWS Signature Version 4: the Authorization header of a request. The tests have the vectors that AWS published.
import { createHmac, hash } from 'node:crypto';

export interface AwsCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string | undefined;
}

export interface AwsRequest {
  method: string;
  /** Not encoded. */
  path: string;
  query?: Readonly<Record<string, string>>;
  /** All that are signed, by their lower-case names; with host, and without x-amz-date. */
  headers: Readonly<Record<string, string>>;
  body: string;
}

const sha256 = (text: string): string => hash('sha256', text, 'hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** RFC 3986: everything but the unreserved characters. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

const byCodePoint = ([a]: readonly [string, string], [b]: readonly [string, string]): number =>
  a < b ? -1 : Number(a > b);

/** @returns the request's headers with its date and signature */
export function signAws(
  { method, path, query = {}, headers, body }: AwsRequest,
  {
    credentials: { accessKeyId, secretAccessKey, sessionToken },
    region,
    service,
    at,
  }: { credentials: AwsCredentials; region: string; service: string; at: Date },
): Record<string, string> {
  const time = at.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const day = time.slice(0, 8);
  const all = {
    ...headers,
    'x-amz-date': time,
    ...(sessionToken !== undefined && { 'x-amz-security-token': sessionToken }),
  };
  const signed = Object.entries(all).sort(byCodePoint);
  const names = signed.map(([name]) => name).join(';');
  const canonical = [
    method,
    path.split('/').map(encoded).join('/'),
    Object.entries(query)
      .map(([name, value]) => [encoded(name), encoded(value)] as const)
      .sort(byCodePoint)
      .map(([name, value]) => `${name}=${value}`)
      .join('&'),
    ...signed.map(([name, value]) => `${name}:${value.trim().replaceAll(/ +/g, ' ')}`),
    '',
    names,
    sha256(body),
  ].join('\n');
  const scope = `${day}/${region}/${service}/aws4_request`;
  const key = [day, region, service, 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`);
  const signature = hmac(key, ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')).toString('hex');
  return {
    ...all,
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  };
}
