// Telling another system of events: its address and the events; ends with a test delivery and its answer.
import { useRead } from '../../api/queries.ts';
import { listEventTypes } from '../../generated/routes.ts';
import type { PageProps } from '../page.ts';
import { listOf, textOf, withoutEmpty } from './asks.tsx';
import { CreateWizard, type Variant, type WizardSpec } from './create-wizard.tsx';
import WebhookEnd from './webhook-end.tsx';

/** The interests of most receivers, with the event types of each. */
const selections: Readonly<Record<string, string>> = {
  people: 'USER_CREATED,USER_UPDATED,USER_DELETED,USER_ERASED',
  signIns: 'LOGIN_SUCCESS,LOGIN_FAILURE,LOGOUT',
  changes: 'ADMIN_WRITE',
  all: '*',
};

const variant: Variant = {
  id: 'webhook',
  label: 'Webhook',
  help: 'An https address that is told of events',
  section: 'webhooks',
  makesSecret: true,
  steps: [
    {
      id: 'settings',
      title: 'Settings',
      asks: [
        { name: 'name', label: 'Name', placeholder: 'crm', mono: true },
        {
          name: 'url',
          label: 'Address',
          help: 'It answers with 2xx within ten seconds',
          placeholder: 'https://crm.example.com/hooks/realmkeeper',
          mono: true,
        },
        {
          name: 'selection',
          label: 'Events',
          is: 'choice',
          fresh: 'people',
          at: 'eventTypes',
          options: [
            { id: 'people', label: 'People', help: 'Users are created, changed and deleted' },
            { id: 'signIns', label: 'Sign-ins', help: 'With those that fail, and sign-outs' },
            { id: 'changes', label: 'Changes by administrators', help: 'ADMIN_WRITE' },
            { id: 'all', label: 'Everything' },
            { id: 'own', label: 'A list of your own' },
          ],
        },
        {
          name: 'types',
          label: 'Event types',
          help: 'As the audit log names them',
          is: 'list',
          item: 'event type',
          fresh: [''],
          when: ({ selection }) => selection === 'own',
        },
      ],
      first: (answers, realm) => (answers.selection === 'own' ? <EventTypes realm={realm} /> : null),
    },
  ],
  body: (answers) => ({
    ...withoutEmpty({
      name: textOf(answers, 'name'),
      url: textOf(answers, 'url'),
      eventTypes: selections[textOf(answers, 'selection')] ?? listOf(answers, 'types').join(','),
    }),
    enabled: true,
  }),
};

/** All event types, to look them up. */
function EventTypes({ realm }: { realm: string }) {
  const types = useRead(listEventTypes, { params: { realm } });
  const all = types.data?.body ?? [];
  if (all.length === 0) return null;
  return (
    <details className="lookup">
      <summary>All {all.length} event types</summary>
      <p className="mono small">{all.join(', ')}</p>
    </details>
  );
}

const spec: WizardSpec = {
  name: 'webhook',
  title: 'Add a webhook',
  lead: 'Each event is sent to your address, signed, at least once, and tried again for a day.',
  choose: 'Kind',
  end: 'Send a test',
  variants: [variant],
  End: WebhookEnd,
};

export default function AddWebhook({ params: { realm } }: PageProps) {
  return <CreateWizard spec={spec} realm={realm} />;
}
