import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RETRY_DELAYS } from '../../../server/features/configuration/webhooks/delivery.ts';
import { signedHeaders } from '../../../server/features/configuration/webhooks/signature.ts';

test('the Standard Webhooks signature is that of its published example', () => {
  const headers = signedHeaders({
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    deliveryId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    eventType: 'LOGOUT',
    at: new Date(1_614_265_330_000),
    body: Buffer.from('{"test": 2432232314}'),
  });
  expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

test('X-Svc-Signature is the lower-case hex HMAC-SHA-256 of the raw bytes under the secret as it is', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 16 }), fc.uint8Array(), (secret, bytes) => {
      const body = Buffer.from(bytes);
      const headers = signedHeaders({ secret, deliveryId: 'd', eventType: 'LOGOUT', at: new Date(0), body });
      expect(headers['X-Svc-Signature']).toBe(createHmac('sha256', secret).update(body).digest('hex'));
      expect(headers['X-Svc-Signature']).toMatch(/^[0-9a-f]{64}$/);
    }),
  );
});

test('there are ten tries over about a day, each later than the one before', () => {
  expect(RETRY_DELAYS).toHaveLength(9);
  expect(RETRY_DELAYS).toEqual([...RETRY_DELAYS].sort((a, b) => a - b));
  const hours = RETRY_DELAYS.reduce((sum, delay) => sum + delay, 0) / 3_600;
  expect(hours).toBeGreaterThan(20);
  expect(hours).toBeLessThan(28);
});
