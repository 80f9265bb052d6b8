// The last step of adding an application: the settings to copy, code for its framework, and a sign-in to try.
import { useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { useWrite } from '../../api/queries.ts';
import { createClientSecret } from '../../generated/routes.ts';
import { objectAddress } from '../../kinds/pages.tsx';
import { inRealm } from '../../shell/addresses.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Code, CopyButton } from '../../ui/code.tsx';
import { Panel } from '../../ui/page.tsx';
import { Loading, Note, ProblemNote } from '../../ui/state.tsx';
import { type Addresses, useAddresses } from './addresses.ts';
import type { EndProps } from './create-wizard.tsx';
import { keepSecret } from './draft.ts';
import { WIZARDS } from './frame.tsx';
import { inputOf, listIn, type Sample, samplesFor } from './samples.ts';
import { Settings } from './settings-list.tsx';
import { signInAddress } from './sign-in-address.ts';
import { TestLink } from './test-link.tsx';

export default function ApplicationEnd(props: EndProps) {
  const { realm, entry, row } = props;
  const addresses = useAddresses(realm);
  const found = addresses.data?.body;
  return (
    <>
      <Note tone="good">
        <strong>
          The application <bdi>{String(row.name ?? row.clientId ?? row.entityId)}</bdi> is there.
        </strong>
      </Note>
      {addresses.error && <ProblemNote problem={addresses.error} retry={() => void addresses.refetch()} />}
      {found ? (
        entry.section === 'samlClients' ? (
          <SamlSettings {...props} addresses={found} />
        ) : (
          <ClientSettings {...props} addresses={found} />
        )
      ) : addresses.isLoading ? (
        <Loading lines={6} />
      ) : (
        !addresses.error && <Note>The realm’s addresses are shown with the permission realm:read.</Note>
      )}
      <div className="row end">
        <ButtonLink to={inRealm(realm, WIZARDS, 'application')}>Add another</ButtonLink>
        <ButtonLink to={objectAddress(realm, entry, row)} variant="primary">
          Open the application
        </ButtonLink>
      </div>
    </>
  );
}

type Props = EndProps & { addresses: Addresses };

function ClientSettings({ realm, variant, id, row, secret, addresses }: Props) {
  const redirects = listIn(row, 'redirectUris');
  const isConfidential = row.tokenEndpointAuthMethod !== 'none';
  return (
    <>
      <Panel title="Settings to copy" lead="Every certified library finds the rest by discovery." plain>
        <Settings
          settings={[
            { name: 'Issuer', value: addresses.issuer },
            { name: 'Client ID', value: String(row.clientId) },
            { name: 'Discovery', value: addresses.discovery },
            { name: 'Token endpoint', value: addresses.token },
            ...(variant.id === 'service' ? [] : [{ name: 'Sign-out', value: addresses.endSession }]),
            ...redirects.map((uri) => ({ name: 'Redirect URI', value: uri })),
            ...listIn(row, 'allowedResources').map((uri) => ({ name: 'API', value: uri })),
          ]}
        />
      </Panel>
      {isConfidential && <Secret realm={realm} id={id} secret={secret} />}
      <Samples samples={samplesFor(variant.id, inputOf(row, addresses.issuer))} />
      {variant.id === 'service' ? (
        <Panel title="Try it">
          <p>
            Run the command of curl above, with the secret in the variable CLIENT_SECRET. The answer has an access
            token.
          </p>
        </Panel>
      ) : (
        redirects[0] !== undefined && (
          <Panel title="Try the sign-in">
            <div className="stack">
              <p className="soft">
                The realm’s sign-in page opens in a new window. After the sign-in it sends you to{' '}
                <code>{redirects[0]}</code> with a code, which only a running application can use. Start the code above
                first to see the whole way; a user of the realm signs in there.
              </p>
              <p>
                <TestSignIn addresses={addresses} clientId={String(row.clientId)} redirectUri={redirects[0]} />
              </p>
            </div>
          </Panel>
        )
      )}
    </>
  );
}

function TestSignIn({
  addresses,
  clientId,
  redirectUri,
}: {
  addresses: Addresses;
  clientId: string;
  redirectUri: string;
}) {
  const [to] = useState(() => signInAddress(addresses.authorization, clientId, redirectUri, { prompt: 'login' }));
  return <TestLink to={to}>Open the sign-in page</TestLink>;
}

function Secret({ realm, id, secret }: { realm: string; id: string; secret: string | undefined }) {
  const make = useWrite(createClientSecret);
  const shown = make.data?.body?.secret ?? secret;
  return (
    <Panel title="Secret" lead="It is shown once. Put it where the application reads its secrets, and nowhere else.">
      <div className="stack">
        {make.error && <ProblemNote problem={make.error} />}
        {shown === undefined ? (
          <>
            <p>The secret is not shown again. A new one replaces it at once.</p>
            <div className="row">
              <Button
                isDisabled={make.isPending}
                onPress={() =>
                  make.mutate(
                    { params: { realm, id } },
                    { onSuccess: ({ body }) => body && keepSecret(realm, id, body.secret) },
                  )
                }
              >
                Make a new secret
              </Button>
            </div>
          </>
        ) : (
          <Code text={shown} label="Secret to copy" />
        )}
      </div>
    </Panel>
  );
}

function Samples({ samples }: { samples: readonly Sample[] }) {
  const [path] = useLocation();
  const [search] = useSearchParams();
  const chosen = samples.find(({ id }) => id === search.get('sample')) ?? samples[0];
  if (!chosen) return null;
  const address = (sample: string) => {
    const query = new URLSearchParams(search);
    query.set('sample', sample);
    return `${path}?${query}`;
  };
  return (
    <Panel title="Code">
      <div className="tabs">
        <nav className="tab-list" aria-label="Framework">
          {samples.map(({ id, label }) => (
            <Link key={id} href={address(id)} className="tab" aria-current={id === chosen.id ? 'page' : undefined}>
              {label}
            </Link>
          ))}
        </nav>
        <div className="stack tight">
          {chosen.install !== undefined && <Code text={chosen.install} label={`Installation for ${chosen.label}`} />}
          <Code text={chosen.code} label={`Code for ${chosen.label}`} />
          {chosen.run !== undefined && <Code text={chosen.run} label={`Start of ${chosen.label}`} />}
        </div>
      </div>
    </Panel>
  );
}

function SamlSettings({ row, addresses }: Props) {
  const mayBegin = row.idpInitiated === true;
  const initiate = `${addresses.samlSignOn.replace(/sso$/, 'initiate')}?${new URLSearchParams({ entityId: String(row.entityId) })}`;
  return (
    <>
      <Panel title="Settings to copy" lead="Applications that read metadata need its address alone." plain>
        <Settings
          settings={[
            { name: 'Metadata', value: addresses.samlMetadata },
            { name: 'Entity ID of the realm', value: addresses.issuer },
            { name: 'Sign-on address', value: addresses.samlSignOn },
            { name: 'Sign-out address', value: addresses.samlLogout },
            { name: 'Entity ID of the application', value: String(row.entityId) },
          ]}
        />
      </Panel>
      <Panel title="Try the sign-in">
        <p>
          Begin at the application: its sign-in button sends you here.
          {mayBegin ? ' It also takes people who come without a request of its own.' : ''} The certificate of the
          realm’s signatures is in the metadata.
        </p>
        <p className="row">
          {mayBegin && <TestLink to={initiate}>Sign in to the application</TestLink>}
          <TestLink to={addresses.samlMetadata}>Open the metadata</TestLink>
          <CopyButton text={addresses.samlMetadata} label="Copy the metadata’s address" />
        </p>
      </Panel>
    </>
  );
}
