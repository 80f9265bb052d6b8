// Makes a new secret of a client: whom it concerns, how long the present one works on, and the new one, shown once.
import { useState } from 'react';
import { DAY_SECONDS, HOUR_SECONDS } from '../../../server/contract/durations.ts';
import { useRead, useWrite } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { createClientSecret, getClientSecret, listSessions } from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import type { Row } from '../../kinds/entry.ts';
import { managedOf } from '../../kinds/managed.tsx';
import { shortManager } from '../../kinds/managers.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Select } from '../../ui/fields.tsx';
import { Loading, Note, ProblemNote } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';

const graces = [
  { seconds: 0, label: 'It ends now' },
  { seconds: HOUR_SECONDS, label: 'One hour' },
  { seconds: DAY_SECONDS, label: 'One day' },
  { seconds: 7 * DAY_SECONDS, label: 'Seven days' },
  { seconds: 30 * DAY_SECONDS, label: 'Thirty days' },
];

/** More sessions than these are not counted. */
const MOST_SESSIONS = 100;

export function NewSecret({ realm, client, onClose }: { realm: string; client: Row; onClose: () => void }) {
  const [grace, setGrace] = useState(DAY_SECONDS);
  const params = { realm, id: String(client.id) };
  const name = String(client.clientId);
  const state = useRead(getClientSecret, { params });
  const make = useWrite(createClientSecret);
  const made = make.data?.body;
  const hasOne = state.data?.body?.secretSet === true;
  const body = { graceSeconds: hasOne ? grace : 0 };
  return (
    <Dialog
      title={`New secret of ${name}`}
      isOpen
      // the secret is shown once: only the button at the end closes it
      {...(made === undefined && { onClose })}
      footer={
        made ? (
          <Button variant="primary" onPress={onClose}>
            I have stored it
          </Button>
        ) : (
          <>
            <AsCommand quiet commands={() => ({ curl: curlOf(createClientSecret, params, body) })} />
            <Button onPress={onClose}>Cancel</Button>
            <Button
              variant={hasOne && grace === 0 ? 'danger' : 'primary'}
              isDisabled={make.isPending || !state.data}
              onPress={() => make.mutate({ params, body })}
            >
              {make.isPending ? 'Making it…' : 'Make a new secret'}
            </Button>
          </>
        )
      }
    >
      {state.error && <ProblemNote problem={state.error} retry={() => void state.refetch()} />}
      {make.error && <ProblemNote problem={make.error} />}
      {made ? (
        <div className="stack">
          <Note tone="good" live>
            <strong>This is the new secret. It is shown once.</strong>
            {made.previousSecretExpiresAt !== null && (
              <span>
                The former one works until <Time ms={made.previousSecretExpiresAt} full />.
              </span>
            )}
          </Note>
          <Code text={made.secret} label="the secret" />
        </div>
      ) : state.data ? (
        <div className="stack">
          <Affected realm={realm} client={client} hasOne={hasOne} />
          {hasOne && (
            <Select
              label="How long the present secret works on"
              options={graces.map(({ seconds, label }) => ({ id: String(seconds), label }))}
              value={String(grace)}
              onChange={(seconds) => setGrace(Number(seconds ?? 0))}
              help={
                grace === 0
                  ? 'The application gets no token until it has the new secret.'
                  : 'Put the new secret into each installation of the application within this time.'
              }
            />
          )}
          {state.data.body?.previousSecretExpiresAt != null && (
            <Note tone="warn">
              The secret before the present one still works until{' '}
              <Time ms={state.data.body.previousSecretExpiresAt} full />. It ends now.
            </Note>
          )}
        </div>
      ) : (
        !state.error && <Loading lines={3} />
      )}
    </Dialog>
  );
}

/** Whom the end of the present secret concerns. */
function Affected({ realm, client, hasOne }: { realm: string; client: Row; hasOne: boolean }) {
  const may = useMay();
  const manager = managedOf(client)?.get('secret');
  const sessions = useRead(
    listSessions,
    { params: { realm }, query: { clientId: String(client.clientId), limit: MOST_SESSIONS } },
    { enabled: hasOne && may(realm, 'sessions:read') },
  );
  const rows = sessions.data?.body;
  const count = `${rows?.length ?? 0}${sessions.data?.nextCursor === undefined ? '' : ' or more'}`;
  return (
    <>
      {hasOne ? (
        <p>
          Each installation of the application proves itself by the present secret. One that has no new secret when it
          ends gets no tokens, and renews none
          {rows && rows.length > 0
            ? `: ${count} ${rows.length === 1 ? 'session has' : 'sessions have'} tokens of the application now.`
            : '.'}
        </p>
      ) : (
        <p>The client has no secret yet, so it gets no tokens. The server makes one and shows it once.</p>
      )}
      {manager !== undefined && (
        <Note tone="warn">
          {shortManager(manager)} declares the secret and sets it back with its next run. Change it there.
        </Note>
      )}
    </>
  );
}
