// The headers of a delivery: X-Svc-*, and Standard Webhooks' beside them. Pure. Specification 6.2 rule 3; decisions "Webhooks".
import { createHmac } from 'node:crypto';

const STANDARD_PREFIX = 'whsec_';

/** Standard Webhooks writes keys as `whsec_<base64>`; any other secret is a key as it is. */
const standardKey = (secret: string): Buffer =>
  secret.startsWith(STANDARD_PREFIX)
    ? Buffer.from(secret.slice(STANDARD_PREFIX.length), 'base64')
    : Buffer.from(secret);

/** @param body the exact bytes that are sent */
export function signedHeaders({
  secret,
  deliveryId,
  eventType,
  at,
  body,
}: {
  secret: string | undefined;
  deliveryId: string;
  eventType: string;
  at: Date;
  body: Buffer;
}): Record<string, string> {
  const seconds = Math.floor(at.getTime() / 1000);
  const headers = {
    'content-type': 'application/json',
    'X-Svc-Event': eventType,
    'X-Svc-Delivery': deliveryId,
    'X-Svc-Timestamp': String(at.getTime()),
    'webhook-id': deliveryId,
    'webhook-timestamp': String(seconds),
  };
  if (secret === undefined) return headers;
  const standard = createHmac('sha256', standardKey(secret)).update(`${deliveryId}.${seconds}.`).update(body);
  return {
    ...headers,
    'X-Svc-Signature': createHmac('sha256', secret).update(body).digest('hex'),
    'webhook-signature': `v1,${standard.digest('base64')}`,
  };
}
