// The realm document's `webhooks`: as 2.7 without ids and times; the secret is compared, never read out. Specification 2.10.
import type { FieldError } from '../../contract/problem.ts';
import { parseEventTypes, WebhookDocument } from '../../contract/webhooks.ts';
import type { Seal } from '../../crypto/seal.ts';
import { sameSecret } from '../../crypto/tokens.ts';
import { asSet, declared, parsing } from '../../http/document.ts';
import type { Existing, RealmPart, Saved } from '../transfer/part.ts';

interface Row {
  id: string;
  name: string;
  url: string;
  event_types: string[];
  enabled: boolean;
  secret: Buffer | null;
}
const SECRET_LENGTH = 16;

/** Sorted, so that order says nothing. */
const canonical = (types: readonly string[]): string => (asSet(types) ?? []).join(',');

export function createWebhooksPart({
  seal,
  newId,
  now,
}: {
  seal: Seal;
  newId: () => string;
  now: () => Date;
}): RealmPart {
  const context = (realm: string, id: string) => `webhook:${realm}:${id}`;
  const existing = (realm: string, row: Row): Existing => {
    const { id, secret, url, enabled } = row;
    const stored = secret && {
      matches: (plain: string) => sameSecret(seal.open(secret, context(realm, id)), Buffer.from(plain)),
    };
    return { fields: { url, eventTypes: canonical(row.event_types), enabled, secret: stored } };
  };

  return {
    section: 'webhooks',
    kind: 'webhook',
    area: 'webhooks',
    list: true,
    parse: parsing(WebhookDocument, ({ name, eventTypes, ...fields }, path) => [
      {
        key: name,
        fields: declared({ ...fields, eventTypes: eventTypes && canonical(parseEventTypes(eventTypes)) }),
        path,
      },
    ]),
    print: (objects) => objects.map(({ key, fields }) => ({ name: key, ...fields })),
    fresh: () => ({ enabled: true }),
    required: ['url', 'eventTypes'],
    secrets: ['secret'],
    async read(sql, realm, keys) {
      const rows = await sql<Row>`
        select id, name, url, event_types, enabled, secret from webhook
        where realm_id = ${realm} and (${keys ?? null}::text[] is null or name = any(${keys ?? null}::text[]))`;
      return new Map(rows.map((row) => [row.name, existing(realm, row)]));
    },
    check: (saved) => saved.flatMap(faults),
    async write(sql, realm, { create, update, remove }) {
      const saved = [...create, ...update];
      if (saved.length > 0) {
        const names = saved.map((s) => s.key);
        const ids = await sql<{ name: string; id: string }>`
          select name, id from webhook where realm_id = ${realm} and name = any(${names}::text[])`;
        const known = new Map(ids.map((row) => [row.name, row.id]));
        const rows = saved.map(({ key, fields, changed }) => {
          const id = known.get(key) ?? newId();
          const { secret, eventTypes, ...rest } = fields;
          const plain = changed.includes('secret') && typeof secret === 'string' ? secret : null;
          return {
            id,
            name: key,
            ...rest,
            eventTypes: parseEventTypes(String(eventTypes)),
            secret: plain === null ? null : seal.seal(plain, context(realm, id)).toString('hex'),
          };
        });
        await sql`
          insert into webhook (realm_id, id, name, url, event_types, secret, enabled, created_at)
          select ${realm}, id, name, url, "eventTypes", decode(secret, 'hex'), enabled, ${now()}
          from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
            as x (id uuid, name text, url text, "eventTypes" text[], secret text, enabled boolean)
          on conflict (realm_id, name) do update set url = excluded.url, event_types = excluded.event_types,
            enabled = excluded.enabled, secret = coalesce(excluded.secret, webhook.secret)`;
      }
      if (remove.length > 0) await sql`delete from webhook where realm_id = ${realm} and name = any(${remove}::text[])`;
    },
    events: { create: 'WEBHOOK_CREATED', update: 'WEBHOOK_UPDATED', delete: 'WEBHOOK_DELETED' },
  };
}

function faults({ fields, changed, path, key }: Saved): FieldError[] {
  const { secret } = fields;
  return changed.includes('secret') && typeof secret === 'string' && secret.length < SECRET_LENGTH
    ? [{ path: `${path}.secret`, message: `${key}: must have at least ${SECRET_LENGTH} characters` }]
    : [];
}
