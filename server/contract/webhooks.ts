// Webhook subscriptions and their deliveries. Specification 2.7, 4.5, 6.2; decisions "Webhooks".
import { z } from 'zod';
import { EventTypeName } from './events.ts';
import { type InputOf, kind } from './kind.ts';
import { ById, EpochMs, Id, InRealm, name, Page, RealmName, text } from './names.ts';
import { route } from './route.ts';

/** https only; the outbound guard decides at connection time whether the address is permitted. */
const WebhookUrl = z
  .url({ protocol: /^https$/, error: 'must be an absolute https address' })
  .max(2048)
  .refine((s) => !s.includes('\0'), 'must not contain NUL')
  .refine((s) => !/^[^/]*\/\/[^/]*@/.test(s), 'must not hold a user name or password')
  .describe('HTTPS receiving endpoint');

const known = new Set<string>(['*', ...EventTypeName.options]);
/** On the wire event types are one comma-separated string; documents and resources use a list. */
export const parseEventTypes = (s: string): string[] => [
  ...new Set(
    s
      .split(',')
      .map((t) => t.trim())
      .filter((t) => t !== ''),
  ),
];
export const EventTypesText = z
  .string()
  .max(4000)
  .refine((s) => parseEventTypes(s).length > 0, 'name at least one event type, or *')
  .superRefine((s, context) => {
    const unknown = parseEventTypes(s).filter((t) => !known.has(t));
    if (unknown.length > 0)
      context.addIssue(
        `there is no event type ${unknown.join(', ')}; GET /admin/realms/{realm}/events/types lists them`,
      );
  })
  .describe('Comma-separated event type names; * subscribes to all');

export const webhooks = kind({
  section: 'webhooks',
  kind: 'webhook',
  one: 'a subscription',
  many: 'subscriptions',
  label: 'webhook',
  description: 'Subscriptions to events',
  resource: 'Webhook',
  key: 'name',
  fields: { name: name(255), url: WebhookUrl, eventTypes: EventTypesText, enabled: z.boolean() },
  needed: ['url', 'eventTypes'],
  whole: true,
  fresh: { enabled: true },
  secrets: {
    secret: text(1024)
      .min(1)
      .describe('HMAC signing secret; write-only. Realm health names webhooks with one of less than 16 characters'),
  },
  answered: {
    realmId: RealmName,
    name: z.string(),
    url: z.string(),
    eventTypes: z.string(),
    createdAt: EpochMs.nullable(),
  },
  most: 5000,
  describe: {
    create: 'Subscribe an HTTPS endpoint to events',
    put: 'Save the desired state of a subscription; a secret that is left out stays',
    remove: 'Delete a subscription with its deliveries',
  },
  form: { lead: 'Addresses that are told of events, signed and with retries' },
  example: {
    name: 'sign-ins',
    url: 'https://hooks.example.com/realmkeeper',
    eventTypes: 'LOGIN_SUCCESS,LOGIN_FAILURE',
    enabled: true,
    secret: 'at least sixteen characters',
  },
  updateExample: {
    name: 'sign-ins',
    url: 'https://other.example.com/realmkeeper',
    eventTypes: '*',
    enabled: false,
    secret: 'other sixteen characters',
  },
  cli: {
    shown: ['enabled', 'eventTypes', 'url'],
    heads: { eventTypes: 'EVENTS', secretSet: 'SIGNED', createdAt: 'CREATED' },
  },
});
export const WebhookInput = webhooks.input;
export type WebhookInput = InputOf<typeof webhooks>;
export const {
  list: listWebhooks,
  create: createWebhook,
  get: getWebhook,
  put: putWebhook,
  remove: deleteWebhook,
} = webhooks.routes;

export const Delivery = z
  .object({
    id: Id,
    webhookId: Id,
    eventId: Id,
    eventType: z.string(),
    status: z.enum(['pending', 'succeeded', 'retrying', 'dead']),
    attempts: z.int(),
    responseStatus: z.int().nullable(),
    error: z.string().nullable(),
    createdAt: EpochMs,
    lastAttemptAt: EpochMs.nullable(),
  })
  .meta({ id: 'WebhookDelivery' });
export type Delivery = z.infer<typeof Delivery>;

const tag = 'webhooks';
const at = '/admin/realms/:realm/webhooks' as const;

export const testWebhook = route({
  method: 'POST',
  path: `${at}/:id/test`,
  tag,
  summary: 'Queue a delivery of a WEBHOOK_TEST event to this subscription alone',
  permission: 'webhooks:write',
  params: ById,
  status: 202,
  response: Delivery,
  problems: ['not-found'],
});
const Deliveries = Page.extend({
  status: Delivery.shape.status.optional().describe('dead: given up'),
});
export const listDeliveries = route({
  method: 'GET',
  path: `${at}/:id/deliveries`,
  tag,
  summary: 'List deliveries, newest first',
  permission: 'webhooks:read',
  params: ById,
  query: Deliveries,
  response: z.array(Delivery),
  problems: ['not-found'],
});
export const listAllDeliveries = route({
  method: 'GET',
  path: '/admin/realms/:realm/deliveries',
  tag,
  summary: 'List the deliveries of all subscriptions, newest first',
  permission: 'webhooks:read',
  params: InRealm,
  query: Deliveries,
  response: z.array(Delivery),
});
export const redeliver = route({
  method: 'POST',
  path: `${at}/:id/deliveries/:deliveryId/redeliver`,
  tag,
  summary: 'Send a delivery again, with the same id',
  permission: 'webhooks:write',
  params: z.strictObject({ realm: RealmName, id: Id, deliveryId: Id }),
  status: 202,
  response: Delivery,
  problems: ['not-found'],
});
