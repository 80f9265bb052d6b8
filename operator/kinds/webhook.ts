// Kind Webhook: one subscription; its signing secret comes from a Secret. Decisions "Custom resources".
import { WebhookSpec as Schema, type WebhookSpec } from '../../server/contract/resources/webhook.ts';
import { declaredFields, type Kind, literal, secretOf } from './kind.ts';

export const webhook: Kind<WebhookSpec> = {
  name: 'Webhook',
  spec: Schema,
  deletionPolicy: 'Delete',
  attached: true,
  letsNobodyIn: true,
  secrets: ({ secretKeyRef }) => (secretKeyRef ? [secretKeyRef] : []),
  document({ name, url, eventTypes, enabled, secretKeyRef }, { metadata, secrets }) {
    const subscription = declaredFields({
      name: name ?? metadata.name,
      url,
      eventTypes: eventTypes.join(','),
      enabled,
      secret: secretKeyRef && literal(secretOf(secretKeyRef, secrets), 'the signing secret'),
    });
    return { webhooks: [subscription] };
  },
  status: ({ name }, { metadata }) => ({ name: name ?? metadata.name }),
};
