// The subscription as a resource: the same by the admin API and in the realm document. Specification 2.7, 4.5.
import { parseEventTypes, Webhook, webhookRoutes } from '../../../contract/webhooks.ts';
import type { Seal } from '../../../crypto/seal.ts';
import { asSet } from '../../../resource/items.ts';
import { type Resource, resource } from '../../../resource/resource.ts';
import { webhookSecret } from './secret.ts';

/** Sorted, so that the order doesn't matter. */
const canonical = (types: readonly string[]): string => (asSet(types) ?? []).join(',');

export const createWebhookResource = ({ seal, now }: { seal: Seal; now: () => Date }): Resource =>
  resource(
    {
      section: 'webhooks',
      wire: Webhook,
      routes: webhookRoutes,
      table: {
        name: 'webhook',
        columns: {
          url: 'text',
          eventTypes: {
            type: 'text[]',
            toRow: (text) => parseEventTypes(String(text)),
            fromRow: (list) => canonical(Array.isArray(list) ? list : []),
          },
          enabled: 'boolean',
        },
        secrets: { secret: webhookSecret(seal) },
        createdAt: true,
      },
      fresh: () => ({ enabled: true }),
      required: ['url', 'eventTypes'],
      canonical: ({ eventTypes, ...fields }) =>
        typeof eventTypes === 'string' ? { ...fields, eventTypes: canonical(parseEventTypes(eventTypes)) } : fields,
      // The address stays out of the audit log: receivers put secrets into it.
      detail: ({ eventTypes, enabled }) => ({ eventTypes, enabled }),
    },
    { now },
  );
