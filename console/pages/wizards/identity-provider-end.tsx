// The last step of connecting an identity provider: a sign-in to try, and what the realm then knows of the person.
import { useState } from 'react';
import { Link } from 'wouter';
import type { OutputOf } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import * as api from '../../generated/routes.ts';
import { objectAddress } from '../../kinds/pages.tsx';
import { inRealm } from '../../shell/addresses.ts';
import { Badge } from '../../ui/badge.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { Select } from '../../ui/fields.tsx';
import { Facts, Panel } from '../../ui/page.tsx';
import { Loading, Note, ProblemNote } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import { baseOf, brokerAddress, useAddresses } from './addresses.ts';
import type { EndProps } from './create-wizard.tsx';
import { Settings } from './settings-list.tsx';
import { signInAddress } from './sign-in-address.ts';
import { TestLink } from './test-link.tsx';

const POLL_SECONDS = 3;
type Event = OutputOf<typeof api.listEvents>[number];

export default function IdentityProviderEnd({ realm, entry, row }: EndProps) {
  const may = useMay();
  const addresses = useAddresses(realm);
  const found = addresses.data?.body;
  const alias = String(row.alias);
  const back = brokerAddress(found ? baseOf(found) : `${location.origin}/realms/${encodeURIComponent(realm)}`, alias);
  return (
    <>
      <Note tone="good">
        <strong>
          The provider <bdi>{String(row.displayName ?? alias)}</bdi> is connected.
        </strong>
      </Note>
      <Panel title="Registered there" plain>
        <Settings
          settings={
            row.type === 'saml'
              ? [
                  { name: 'Metadata of this realm', value: `${back}/descriptor` },
                  { name: 'Assertion consumer service', value: back },
                ]
              : [
                  { name: 'Redirect address', value: back },
                  { name: 'After signing out', value: `${back}/logout_response` },
                ]
          }
        />
      </Panel>
      <Panel title="Try the sign-in">
        <TrySignIn realm={realm} alias={alias} account={found?.account} authorization={found?.authorization} />
      </Panel>
      {may(realm, 'events:read') ? (
        <Seen realm={realm} alias={alias} />
      ) : (
        <Note>What comes of the sign-in is shown with the permission events:read.</Note>
      )}
      <div className="row end">
        <ButtonLink to={objectAddress(realm, entry, row)} variant="primary">
          Open the provider
        </ButtonLink>
      </div>
    </>
  );
}

interface TryProps {
  realm: string;
  alias: string;
  account: string | undefined;
  authorization: string | undefined;
}

/** By an application of the realm, which can name the provider; or by the account page, where people choose it. */
function TrySignIn({ realm, alias, account, authorization }: TryProps) {
  const may = useMay();
  const clients = useRead(
    api.listClients,
    { params: { realm }, query: { limit: 50 } },
    { enabled: may(realm, 'clients:read') },
  );
  const [chosen, setChosen] = useState<string | null>(null);
  const [to, setTo] = useState<string>();
  const able = (clients.data?.body ?? []).filter(
    ({ grantTypes, redirectUris, enabled }) =>
      enabled && grantTypes.includes('authorization_code') && redirectUris.length > 0,
  );
  const choose = (id: string | null) => {
    setChosen(id);
    const client = able.find((one) => one.clientId === id);
    const [redirectUri] = client?.redirectUris ?? [];
    setTo(
      client && redirectUri !== undefined && authorization !== undefined
        ? signInAddress(authorization, client.clientId, redirectUri, { kc_idp_hint: alias, prompt: 'login' })
        : undefined,
    );
  };
  if (account === undefined)
    return <p className="soft">The realm’s addresses are shown with the permission realm:read.</p>;
  return (
    <div className="stack">
      <p className="soft">
        Use a private window, where nobody is signed in yet. The account page shows the button of the provider; an
        application of the realm leads straight to it.
      </p>
      {able.length > 0 && authorization !== undefined && (
        <Select
          label="Sign in to"
          value={chosen}
          onChange={choose}
          none="The account page"
          options={able.map(({ clientId, name }) => ({ id: clientId, label: name ?? clientId }))}
        />
      )}
      <div>
        <TestLink to={to ?? account}>Try the sign-in</TestLink>
      </div>
    </div>
  );
}

const TYPES = 'LOGIN_SUCCESS,LOGIN_FAILURE,IDENTITY_LINKED';

/** Sign-ins since this step was opened. */
function Seen({ realm, alias }: { realm: string; alias: string }) {
  const [from] = useState(() => Date.now());
  const events = useRead(
    api.listEvents,
    { params: { realm }, query: { type: TYPES, from, limit: 20 } },
    { everySeconds: POLL_SECONDS, keep: true },
  );
  const rows = events.data?.body ?? [];
  const linked = rows.find(({ type, data }) => type === 'IDENTITY_LINKED' && data.identityProvider === alias);
  const person =
    linked?.subject?.id ??
    rows.find(({ type, data }) => type === 'LOGIN_SUCCESS' && isFederated(data.methods))?.subject?.id;
  return (
    <Panel title="What came of it" lead="Sign-ins to the realm since this step was opened." plain>
      {events.error && <ProblemNote problem={events.error} retry={() => void events.refetch()} />}
      {!events.data ? (
        !events.error && <Loading lines={2} />
      ) : rows.length === 0 ? (
        <p className="waiting soft" role="status">
          Waiting for a sign-in…
        </p>
      ) : (
        <ul className="events" aria-live="polite">
          {rows.map((event) => (
            <Outcome key={event.id} realm={realm} event={event} />
          ))}
        </ul>
      )}
      {person && <Person realm={realm} alias={alias} id={person} />}
    </Panel>
  );
}

const isFederated = (methods: unknown): boolean => Array.isArray(methods) && methods.includes('fed');

function Outcome({ realm, event: { type, occurredAt, subject, data } }: { realm: string; event: Event }) {
  const failed = type === 'LOGIN_FAILURE';
  const words = type === 'IDENTITY_LINKED' ? 'Connected' : failed ? 'Refused' : 'Signed in';
  return (
    <li>
      <Time ms={occurredAt} />
      <span>
        {subject?.id ? (
          <Link href={inRealm(realm, 'users', subject.id)}>
            <bdi>{subject.name ?? subject.id}</bdi>
          </Link>
        ) : (
          <span className="soft">unknown</span>
        )}
        {typeof data.reason === 'string' && <span className="soft"> {data.reason}</span>}
      </span>
      <Badge tone={failed ? 'bad' : 'good'}>{words}</Badge>
    </li>
  );
}

/** The values that the realm took over from the provider. */
function Person({ realm, alias, id }: { realm: string; alias: string; id: string }) {
  const may = useMay();
  const enabled = may(realm, 'users:read');
  const user = useRead(api.getUser, { params: { realm, userId: id } }, { enabled });
  const links = useRead(api.listIdentityLinks, { params: { realm, userId: id } }, { enabled });
  if (!enabled) return null;
  const error = user.error ?? links.error;
  if (error) return <ProblemNote problem={error} />;
  const body = user.data?.body;
  const link = links.data?.body?.find(({ identityProvider }) => identityProvider === alias);
  if (!body || !links.data) return <Loading lines={3} />;
  const values: [string, unknown][] = [
    ['Identifier at the provider', link?.subject],
    ['Name at the provider', link?.name],
    ['Username', body.username],
    ['E-mail', body.email === null ? null : `${body.email}${body.emailVerified ? '' : ' (not confirmed)'}`],
    ['First name', body.firstName],
    ['Last name', body.lastName],
    ...Object.entries(body.attributes ?? {}).map(([name, value]): [string, unknown] => [
      name,
      [value].flat().join(', '),
    ]),
  ];
  return (
    <>
      <h3 className="inside">What the realm knows of the person now</h3>
      <Facts
        facts={values
          .filter(([, value]) => value !== null && value !== undefined && value !== '')
          .map(([name, value]) => ({ name, value: <bdi>{String(value)}</bdi> }))}
      />
    </>
  );
}
