// A sign-in of the user tried out in another situation: an address, a new browser, a risk, another flow. Nothing is written.
import { type FormEvent, useState } from 'react';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { simulateSignIn } from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { faultsOf } from '../../kinds/plan.ts';
import { ReferenceField } from '../../kinds/reference-field.tsx';
import { AsCommand } from '../../ui/as-command.tsx';
import { Button } from '../../ui/button.tsx';
import { Toggle } from '../../ui/choices.tsx';
import { Select, TextField } from '../../ui/fields.tsx';
import { Panel } from '../../ui/page.tsx';
import { Loading, ProblemNote } from '../../ui/state.tsx';
import { useAddressState } from './addresses.ts';
import { PathPanel, RiskFindings } from './sign-in-path.tsx';
import type { UserTab } from './user.tsx';

const bands = [
  { id: 'low', label: 'Low' },
  { id: 'medium', label: 'Medium' },
  { id: 'high', label: 'High' },
] as const;
const levels = ['1', '2', '3'].map((id) => ({ id, label: `Level ${id}` }));

interface Situation {
  flow: string;
  ipAddress: string;
  riskBand: string;
  level: string;
  newBrowser: boolean;
}
/** As the address has it; `try` says that a situation is shown. */
const situationOf = (search: URLSearchParams): Situation => ({
  flow: search.get('flow') ?? '',
  ipAddress: search.get('ip') ?? '',
  riskBand: search.get('risk') ?? '',
  level: search.get('level') ?? '',
  newBrowser: search.get('browser') === 'new',
});

function queryOf({ flow, ipAddress, riskBand, level, newBrowser }: Situation, clientId: string) {
  return {
    ...(clientId !== '' && { clientId }),
    ...(flow !== '' && { flow }),
    ...(ipAddress !== '' && { ipAddress }),
    ...(bands.some(({ id }) => id === riskBand) && { riskBand: riskBand as (typeof bands)[number]['id'] }),
    ...(level !== '' && { level }),
    ...(newBrowser && { deviceKnown: 'false' }),
  };
}

/** @param clientId of the application that the page is about; '' is none */
export function Simulation({ realm, user, clientId }: Pick<UserTab, 'realm' | 'user'> & { clientId: string }) {
  const may = useMay();
  const { search, change } = useAddressState();
  const shown = situationOf(search);
  const isShown = search.get('try') === '1';
  const [now, setNow] = useState(shown);
  const set = (changes: Partial<Situation>) => setNow((before) => ({ ...before, ...changes }));
  const params = { realm, userId: user.id };
  const result = useRead(simulateSignIn, { params, query: queryOf(shown, clientId) }, { enabled: isShown });
  const faults = faultsOf(result.error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { flow, ipAddress, riskBand, level, newBrowser } = now;
    change({
      try: '1',
      flow,
      ip: ipAddress.trim(),
      risk: riskBand,
      level,
      browser: newBrowser ? 'new' : undefined,
    });
    if (isShown) void result.refetch();
  };
  const found = isShown ? result.data?.body : undefined;
  return (
    <>
      <Panel
        title="Try another situation"
        lead="The steps that the server would ask for, with the user’s credentials as they are now. Nothing is written."
        actions={
          <AsCommand
            quiet
            commands={() => ({ curl: curlOf(simulateSignIn, params, undefined, queryOf(now, clientId)) })}
          />
        }
      >
        <form className="stack" onSubmit={submit} noValidate>
          <div className="columns wide">
            {may(realm, 'flows:read') && (
              <ReferenceField
                realm={realm}
                kind="flow"
                label="Flow instead of the bound one"
                value={now.flow || null}
                onChange={(value) => set({ flow: value ?? '' })}
                fault={faults.get('flow')}
              />
            )}
            <TextField
              label="IP address"
              placeholder="192.0.2.7"
              value={now.ipAddress}
              onChange={(ipAddress) => set({ ipAddress })}
              fault={faults.get('ipAddress')}
              mono
            />
            <Select
              label="Risk"
              none="As the realm scores it"
              options={bands}
              value={now.riskBand || null}
              onChange={(band) => set({ riskBand: band ?? '' })}
            />
            <Select
              label="Level of assurance asked for"
              none="Any"
              options={levels}
              value={now.level || null}
              onChange={(level) => set({ level: level ?? '' })}
            />
          </div>
          <Toggle
            label="In a browser that the user has not signed in with"
            isSelected={now.newBrowser}
            onChange={(newBrowser) => set({ newBrowser })}
          />
          <div className="row end">
            <Button type="submit">Try it</Button>
          </div>
        </form>
      </Panel>
      {isShown && result.error && <ProblemNote problem={result.error} quietFields={faults.size > 0} />}
      {isShown && !found && !result.error && <Loading lines={4} />}
      {found?.risk && (
        <Panel title="Risk in this situation">
          <RiskFindings risk={found.risk} />
        </Panel>
      )}
      {found && <PathPanel title="The steps in this situation" path={found.path} />}
    </>
  );
}
