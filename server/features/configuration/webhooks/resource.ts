// Owns: subscriptions to events as administrators configure them.
// Does not own: their fields and routes (contract/webhooks.ts), sending events to them (delivery.ts).
// Implements: specification 2.7, 4.5.
import { parseEventTypes, webhooks } from '../../../contract/webhooks.ts';
import { declaredResource, type ResourceDeps } from '../../../resource/declared.ts';
import { asSet } from '../../../resource/items.ts';
import type { PlannedChange } from '../../../resource/part.ts';

/** Fields that decide which events a receiver gets, or which receiver gets them. */
const DISCLOSING: readonly string[] = ['url', 'eventTypes'];

/** Whether a receiver gets events by this change that it did not get before. */
const discloses = ({ action, fields, save }: PlannedChange): boolean =>
  action === 'create' ||
  (action === 'update' &&
    fields.some(({ path }) => DISCLOSING.includes(path) || (path === 'enabled' && save.enabled === true)));

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
      needs: (change) => (discloses(change) ? ['events:read'] : []),
      // The address stays out of the audit log, because receivers put secrets into it.
      detail: ({ eventTypes, enabled }) => ({ eventTypes, enabled }),
    },
    deps,
  );
