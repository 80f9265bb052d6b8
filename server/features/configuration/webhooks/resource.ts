// Owns: subscriptions to events as administrators configure them.
// Does not own: their fields and routes (contract/webhooks.ts), sending events to them (delivery.ts).
// Implements: specification 2.7, 4.5.
import { parseEventTypes, webhooks } from '../../../contract/webhooks.ts';
import { declaredResource, type ResourceDeps } from '../../../resource/declared.ts';
import { asSet } from '../../../resource/items.ts';

/** Sorted, so that the order doesn't matter. */
const canonical = (types: readonly string[]): string => (asSet(types) ?? []).join(',');

export const webhooksResource = (deps: Pick<ResourceDeps, 'seal' | 'now'>) =>
  declaredResource(
    webhooks,
    {
      table: {
        columns: {
          eventTypes: {
            type: 'text[]',
            toRow: (text) => parseEventTypes(String(text)),
            fromRow: (list) => canonical(Array.isArray(list) ? list : []),
          },
        },
      },
      canonical: ({ eventTypes, ...fields }) =>
        typeof eventTypes === 'string' ? { ...fields, eventTypes: canonical(parseEventTypes(eventTypes)) } : fields,
      // The address stays out of the audit log, because receivers put secrets into it.
      detail: ({ eventTypes, enabled }) => ({ eventTypes, enabled }),
    },
    deps,
  );
