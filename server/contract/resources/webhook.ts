// Kind Webhook: one subscription. Decisions "Custom resources"; specification 2.7.
import { z } from 'zod';
import { name } from '../names.ts';
import { webhooks } from '../webhooks.ts';
import { commonSpec, commonStatus, deletionPolicy, SecretKeyRef } from './custom-resource.ts';

export const WebhookSpec = z.strictObject({
  ...commonSpec,
  deletionPolicy: deletionPolicy('Delete'),
  name: name(255).optional().describe('The subscription’s name; metadata.name where it is left out'),
  url: webhooks.fields.url,
  eventTypes: z.array(z.string().min(1).max(100)).min(1).max(200).describe('Event types; * subscribes to all'),
  enabled: z.boolean().optional().describe('false: no deliveries'),
  secretKeyRef: SecretKeyRef.optional().describe('The HMAC signing secret'),
});
export type WebhookSpec = z.infer<typeof WebhookSpec>;

export const WebhookStatus = z.strictObject({
  ...commonStatus,
  name: z.string().optional().describe('The subscription’s name in the realm'),
  lastDelivery: z
    .string()
    .optional()
    .describe('When the last delivery was tried and how it ended, as seen at the last resync'),
});
export type WebhookStatus = z.infer<typeof WebhookStatus>;
