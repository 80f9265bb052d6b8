// The tokens that a client would get for a user, or for itself, and where each claim comes from. The server issues nothing.
import { type FormEvent, useState } from 'react';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { getClient, getUser, previewToken } from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { faultsOf } from '../../kinds/plan.ts';
import { ReferenceField } from '../../kinds/reference-field.tsx';
import { option, realmctl, word } from '../../kinds/shell-words.ts';
import { UserField } from '../../kinds/user-field.tsx';
import { inRealm, realmAddress } from '../../shell/addresses.ts';
import { AsCommand, type Commands } from '../../ui/as-command.tsx';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/fields.tsx';
import { type Filters, useFilters } from '../../ui/filters.ts';
import { Page, Panel } from '../../ui/page.tsx';
import { Empty, Loading, ProblemNote } from '../../ui/state.tsx';
import type { PageProps } from '../page.ts';
import { TokensShown } from './tokens.tsx';

interface Asked {
  client: string;
  user: string;
  scope: string;
  resource: string;
}

/** The client or the user is that of the page; the other one is in the query. */
function askedOf(params: PageProps['params'], { get }: Pick<Filters, 'get'>): Asked {
  return {
    client: params.clientId ?? get('client'),
    user: params.userId ?? get('user'),
    scope: get('scope'),
    resource: get('resource'),
  };
}

const queryOf = ({ user, scope, resource }: Asked) => ({
  ...(user !== '' && { userId: user }),
  ...(scope !== '' && { scope }),
  ...(resource !== '' && { resource }),
});

export default function TokenPreviewPage({ params }: PageProps) {
  const { realm, clientId, userId } = params;
  const asked = askedOf(params, useFilters());
  const client = useRead(getClient, { params: { realm, id: asked.client } }, { enabled: asked.client !== '' });
  const user = useRead(getUser, { params: { realm, userId: asked.user } }, { enabled: asked.user !== '' });
  const clientName = client.data?.body?.clientId;
  const username = user.data?.body?.username;
  const input = { params: { realm, id: asked.client }, query: queryOf(asked) };
  const preview = useRead(previewToken, input, { enabled: asked.client !== '', keep: true });
  const faults = faultsOf(preview.error);
  const commands = (): Commands => ({
    ...(clientName !== undefined && {
      realmctl: realmctl(
        'preview token',
        [clientName],
        `-r ${word(realm)}`,
        ...(username === undefined ? [] : [option('--user', username)]),
        ...(asked.scope === '' ? [] : [option('--scope', asked.scope)]),
        ...(asked.resource === '' ? [] : [`--resource ${asked.resource.split(/ +/).map(word).join(' ')}`]),
      ),
    }),
    curl: curlOf(previewToken, { realm, id: asked.client || '<id of the client>' }, undefined, input.query),
  });
  const of = clientId !== undefined ? clientName : username;
  return (
    <Page
      title="Token preview"
      documentTitle={of === undefined ? 'Token preview' : `Token preview – ${of}`}
      lead="The claims as the server would make them now, and where each comes from. No token is issued."
      crumbs={[
        { label: realm, to: realmAddress(realm) },
        ...(clientId === undefined
          ? []
          : [
              { label: 'Clients', to: inRealm(realm, 'clients') },
              { label: clientName ?? '…', to: inRealm(realm, 'clients', clientId) },
            ]),
        ...(userId === undefined
          ? []
          : [
              { label: 'Users', to: inRealm(realm, 'users') },
              { label: username ?? '…', to: inRealm(realm, 'users', userId) },
            ]),
      ]}
      actions={<AsCommand commands={commands} />}
    >
      <Question
        key={JSON.stringify(asked)}
        realm={realm}
        asked={asked}
        fixed={clientId === undefined ? 'user' : 'client'}
        faults={faults}
      />
      {preview.error && asked.client !== '' && (
        <ProblemNote problem={preview.error} retry={() => void preview.refetch()} quietFields={faults.size > 0} />
      )}
      {asked.client === '' ? (
        <Panel>
          <Empty icon="client" title="Choose an application">
            <p>Its tokens for the user are shown here.</p>
          </Empty>
        </Panel>
      ) : preview.data?.body && !preview.error ? (
        <TokensShown preview={preview.data.body} stale={preview.isPlaceholderData} />
      ) : (
        !preview.error && <Loading lines={8} />
      )}
    </Page>
  );
}

function Question({
  realm,
  asked,
  fixed,
  faults,
}: {
  realm: string;
  asked: Asked;
  fixed: 'client' | 'user';
  faults: ReadonlyMap<string, string>;
}) {
  const may = useMay();
  const filters = useFilters();
  const [now, setNow] = useState(asked);
  const set = (changes: Partial<Asked>) => setNow((before) => ({ ...before, ...changes }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { client, user, scope, resource } = now;
    filters.set({
      ...(fixed === 'user' ? { client } : { user }),
      scope: scope.trim(),
      resource: resource.trim(),
    });
  };
  return (
    <Panel title="The request">
      <form className="stack" onSubmit={submit} noValidate>
        <div className="columns wide">
          {fixed === 'user' ? (
            <ReferenceField
              realm={realm}
              kind="client"
              label="Application"
              byId
              value={now.client || null}
              onChange={(client) => set({ client: client ?? '' })}
            />
          ) : (
            may.partly(realm, 'users:read') && (
              <UserField
                realm={realm}
                label="User"
                help="Empty: the client for itself."
                value={now.user || null}
                onChange={(user) => set({ user: user ?? '' })}
                fault={faults.get('userId')}
              />
            )
          )}
          <TextField
            label="Scopes"
            help="Separated by blanks. Empty: the default scopes, with openid for a user."
            placeholder="openid profile"
            value={now.scope}
            onChange={(scope) => set({ scope })}
            fault={faults.get('scope')}
            mono
          />
          <TextField
            label="Resources"
            help="What the token is for (RFC 8707), separated by blanks."
            placeholder="https://api.example.com"
            value={now.resource}
            onChange={(resource) => set({ resource })}
            fault={faults.get('resource')}
            mono
          />
        </div>
        <div className="row end">
          <Button type="submit" variant="primary">
            Preview
          </Button>
        </div>
      </form>
    </Panel>
  );
}
