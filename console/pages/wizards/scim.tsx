// Letting Entra or Okta manage users and groups: a token and the address to copy, and whether they have come.
import { type FormEvent, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { DAY_MS } from '../../../server/contract/durations.ts';
import { useRead, useWrite } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import * as api from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { faultsOf } from '../../kinds/plan.ts';
import { option, word } from '../../kinds/shell-words.ts';
import { inRealm } from '../../shell/addresses.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { Select, TextField } from '../../ui/fields.tsx';
import { Facts, Panel } from '../../ui/page.tsx';
import { Loading, Note, ProblemNote } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import { say } from '../../ui/toast.tsx';
import type { PageProps } from '../page.ts';
import { useAddresses } from './addresses.ts';
import { textOf } from './asks.tsx';
import { keepSecret, keptSecret, useDraft } from './draft.ts';
import { Wizard } from './frame.tsx';
import { Settings } from './settings-list.tsx';

interface System {
  id: string;
  label: string;
  help: string;
  /** The administrator's work there, with the names of its fields. */
  steps: readonly string[];
  address: string;
  token: string;
}
const systems: readonly System[] = [
  {
    id: 'entra',
    label: 'Microsoft Entra ID',
    help: 'Users and groups of an Entra tenant',
    steps: [
      'Open the enterprise application, then “Provisioning”, and choose “Automatic”.',
      'Enter the tenant URL and the secret token below.',
      '“Test connection”, save, and start the provisioning. The default attribute mappings work.',
    ],
    address: 'Tenant URL',
    token: 'Secret token',
  },
  {
    id: 'okta',
    label: 'Okta',
    help: 'Users and groups that Okta assigns',
    steps: [
      'Take an application with SCIM provisioning, and open “Provisioning”, “Integration”.',
      'Enter the base URL below, “userName” as unique identifier field, and “HTTP Header” with the token as authentication.',
      'Choose the actions for users and groups, then “Test Connector Configuration”.',
    ],
    address: 'SCIM connector base URL',
    token: 'Authorization (Bearer)',
  },
  {
    id: 'other',
    label: 'Another system',
    help: 'Any client of SCIM 2.0',
    steps: ['Enter the base address and the token below. The token is sent as Authorization: Bearer.'],
    address: 'Base address',
    token: 'Token',
  },
];

const LIVES: readonly { id: string; label: string; days: number | undefined }[] = [
  { id: 'never', label: 'Until it is deleted', days: undefined },
  { id: '90', label: '90 days', days: 90 },
  { id: '365', label: 'A year', days: 365 },
];

export default function SetUpScim({ params: { realm } }: PageProps) {
  const [path] = useLocation();
  const [search] = useSearchParams();
  const system = systems.find(({ id }) => id === search.get('variant'));
  const token = search.get('id') ?? '';
  const at = !system ? 'choose' : token === '' ? 'settings' : 'done';
  return (
    <Wizard
      realm={realm}
      title="Provision by SCIM"
      lead="Another system creates, changes and disables users and groups here."
      steps={[
        { id: 'choose', title: 'System', to: at === 'done' ? undefined : path },
        { id: 'settings', title: 'Token' },
        { id: 'done', title: 'Enter it there' },
      ]}
      at={at}
      actions={
        <AsCommand
          commands={() => ({
            realmctl: `realmctl get scim-tokens -r ${word(realm)}`,
            curl: curlOf(api.listScimTokens, { realm }),
          })}
        />
      }
    >
      {!system ? (
        <ul className="choice-cards">
          {systems.map(({ id, label, help }) => (
            <li key={id}>
              <Link href={`${path}?${new URLSearchParams({ variant: id })}`} className="choice-card">
                <strong>{label}</strong>
                <span className="soft small">{help}</span>
              </Link>
            </li>
          ))}
        </ul>
      ) : token === '' ? (
        <TokenForm realm={realm} system={system} />
      ) : (
        <EnterIt realm={realm} system={system} id={token} />
      )}
    </Wizard>
  );
}

function TokenForm({ realm, system }: { realm: string; system: System }) {
  const may = useMay();
  const [path, navigate] = useLocation();
  const { answers, answer, clear } = useDraft(realm, `scim.${system.id}`, () => false);
  const [tried, setTried] = useState(false);
  const create = useWrite(api.createScimToken);
  const name = typeof answers.name === 'string' ? answers.name : system.id === 'other' ? '' : system.id;
  const lives = LIVES.find(({ id }) => id === textOf(answers, 'lives')) ?? LIVES[0];
  // the server gives a token no more than its maker holds
  const lacks = (['users:read', 'groups:read', 'users:write', 'groups:write'] as const).filter((of) => !may(realm, of));
  const faults = faultsOf(create.error);
  const body = {
    name: name.trim(),
    permissions: ['read', 'write'] as ('read' | 'write')[],
    ...(lives?.days !== undefined && { expiresAt: Date.now() + lives.days * DAY_MS }),
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (name.trim() === '') return;
    create.mutate(
      { params: { realm }, body },
      {
        onSuccess: ({ body: made }) => {
          if (!made) return;
          keepSecret(realm, made.id, made.token);
          clear();
          say('Made the token.');
          navigate(`${path}?${new URLSearchParams({ variant: system.id, id: made.id })}`);
        },
      },
    );
  };
  return (
    <form className="form" onSubmit={submit} noValidate>
      {lacks.length > 0 && (
        <Note tone="warn">
          Making such a token needs {lacks.map((of) => `${of}`).join(', ')} too. Ask an administrator of the realm.
        </Note>
      )}
      {create.error && <ProblemNote problem={create.error} quietFields />}
      <Panel plain>
        <div className="form-group">
          <TextField
            label="Name"
            help="Audit events of what the system does name it."
            value={name}
            onChange={(text) => answer('name', text)}
            fault={tried && name.trim() === '' ? 'is needed' : faults.get('name')}
            mono
            required
          />
          <Select
            label="The token is valid"
            value={lives?.id ?? 'never'}
            onChange={(id) => answer('lives', id)}
            options={LIVES.map(({ id, label }) => ({ id, label }))}
            fault={faults.get('expiresAt')}
          />
        </div>
      </Panel>
      <div className="form-actions">
        <span className="said">The token may read and write users and groups, but never administrators.</span>
        <AsCommand
          commands={() => ({
            realmctl: `realmctl create scim-token -r ${word(realm)} ${option('--name', name.trim() || 'NAME')} --permissions read,write`,
            curl: curlOf(api.createScimToken, { realm }, body),
          })}
          quiet
        />
        <ButtonLink to={path}>Back</ButtonLink>
        <Button type="submit" variant="primary" isDisabled={create.isPending || lacks.length > 0}>
          {create.isPending ? 'Asking the server…' : 'Make the token'}
        </Button>
      </div>
    </form>
  );
}

const POLL_SECONDS = 5;

function EnterIt({ realm, system, id }: { realm: string; system: System; id: string }) {
  const [path] = useLocation();
  const addresses = useAddresses(realm);
  const tokens = useRead(
    api.listScimTokens,
    { params: { realm }, query: { limit: 200 } },
    { everySeconds: POLL_SECONDS, keep: true },
  );
  const secret = keptSecret(realm, id);
  const token = tokens.data?.body?.find((one) => one.id === id);
  const error = addresses.error ?? tokens.error;
  const scim = addresses.data?.body?.scim;
  return (
    <div className="form">
      {error && <ProblemNote problem={error} />}
      <Panel title={`At ${system.label}`} plain>
        <ol className="elsewhere">
          {system.steps.map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ol>
        {scim === undefined ? (
          !addresses.error && <Loading lines={1} />
        ) : (
          <Settings settings={[{ name: system.address, value: scim }]} />
        )}
      </Panel>
      <Panel title={system.token} lead="It is shown once.">
        {secret === undefined ? (
          <p>
            The token is not shown again.{' '}
            <Link href={`${path}?${new URLSearchParams({ variant: system.id })}`}>Make another one</Link>, if it is
            lost.
          </p>
        ) : (
          <Code text={secret} label={`${system.token}, to copy`} />
        )}
      </Panel>
      <Panel title="Its requests" plain>
        {!tokens.data ? (
          !tokens.error && <Loading lines={2} />
        ) : token ? (
          <div role="status">
            <Facts
              facts={[
                {
                  name: 'Last request',
                  value:
                    token.lastUsedAt === null ? (
                      <span className="soft">none yet; the test of the connection makes the first</span>
                    ) : (
                      <Time ms={token.lastUsedAt} full />
                    ),
                },
                {
                  name: 'Valid until',
                  value: token.expiresAt === null ? 'it is deleted' : <Time ms={token.expiresAt} full />,
                },
              ]}
            />
          </div>
        ) : (
          <p className="waiting">There is no such token any more.</p>
        )}
      </Panel>
      <div className="row end">
        <ButtonLink to={inRealm(realm, 'users')} variant="primary">
          See the users
        </ButtonLink>
      </div>
    </div>
  );
}
