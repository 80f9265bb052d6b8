// Reads the status fields that come from the server and not from the plan: a realm's issuer and key, a webhook's last
// delivery. They are read during a pass only, so a status stays the same while nothing changes. Decisions "Custom resources".
import { allRows, type Client, ServerProblem } from '../../server/contract/client.ts';
import { listKeys } from '../../server/contract/keys.ts';
import { getRealm } from '../../server/contract/realms.ts';
import type { Change } from '../../server/contract/transfer.ts';
import { type Delivery, listDeliveries, listWebhooks } from '../../server/contract/webhooks.ts';
import type { KindName } from '../resource.ts';

export type Details = (of: {
  kind: KindName;
  realm: string;
  /** The kind's own status fields. */
  own: Readonly<Record<string, unknown>>;
  /** The changes that this pass has applied. */
  made: readonly Change[];
}) => Promise<Record<string, unknown>>;

export function createDetails({ client }: { client: Client }): Details {
  async function ofRealm(realm: string) {
    const params = { realm };
    const [found, keys] = await Promise.all([client.call(getRealm, { params }), client.call(listKeys, { params })]);
    return { issuer: found.body?.issuer, activeKeyId: keys.body?.find((key) => key.status === 'ACTIVE')?.keyId };
  }

  async function ofWebhook(realm: string, name: unknown) {
    for await (const hook of allRows(client, listWebhooks, { params: { realm } })) {
      if (hook.name !== name) continue;
      const { body } = await client.call(listDeliveries, { params: { realm, id: hook.id }, query: { limit: 1 } });
      return { lastDelivery: body?.[0] && words(body[0]) };
    }
    return {};
  }

  return async ({ kind, realm, own, made }) => {
    try {
      if (kind === 'Realm') return await ofRealm(realm);
      // a webhook that this pass created has no deliveries yet
      const asks = kind === 'Webhook' && !made.some(({ action }) => action === 'create');
      return asks ? await ofWebhook(realm, own.name) : {};
    } catch (error) {
      // the realm doesn't exist, or no longer
      if (error instanceof ServerProblem && error.status === 404) return {};
      throw error;
    }
  };
}

function words({ status, responseStatus, eventType, lastAttemptAt, createdAt }: Delivery): string {
  const at = new Date(lastAttemptAt ?? createdAt).toISOString();
  return `${at} ${eventType}: ${status}${responseStatus === null ? '' : ` (${responseStatus})`}`;
}
