// A sign-in of the user tried out in another situation: an address, a new browser, a risk, another flow. Nothing is written.
import { type FormEvent, useState } from 'react';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { simulateSignIn } from '../../generated/routes.ts';
import { requestCommands } from '../../kinds/commands.ts';
import { faultsOf } from '../../kinds/plan.ts';
import { ReferenceField } from '../../kinds/reference-field.tsx';
import { AsCommand } from '../../ui/as-command.tsx';
import { Button } from '../../ui/button.tsx';
import { useFilters } from '../../ui/filters.ts';
import { Panel } from '../../ui/page.tsx';
import { Loading, ProblemNote } from '../../ui/state.tsx';
import { PathPanel, RiskFindings } from '../sign-in/path.tsx';
import {
  type Situation,
  SituationFields,
  situationFilters,
  situationOf,
  situationQuery,
} from '../sign-in/situation.tsx';
import type { UserTab } from './user.tsx';

interface Tried extends Situation {
  /** '' is the flow that is bound. */
  flow: string;
}

/** @param clientId of the application that the page is about; '' is none */
export function Simulation({ realm, user, clientId }: Pick<UserTab, 'realm' | 'user'> & { clientId: string }) {
  const may = useMay();
  const filters = useFilters();
  const shown: Tried = { ...situationOf(filters), flow: filters.get('flow') };
  /** Without it the address has no situation yet. */
  const isShown = filters.get('try') === '1';
  const [now, setNow] = useState(shown);
  const set = (changes: Partial<Tried>) => setNow((before) => ({ ...before, ...changes }));
  const params = { realm, userId: user.id };
  const queryOf = ({ flow, ...situation }: Tried) => ({
    ...(clientId !== '' && { clientId }),
    ...(flow !== '' && { flow }),
    ...situationQuery(situation),
  });
  const result = useRead(simulateSignIn, { params, query: queryOf(shown) }, { enabled: isShown });
  const faults = faultsOf(result.error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    filters.set({ try: '1', flow: now.flow, ...situationFilters(now) });
    if (isShown) void result.refetch();
  };
  const found = isShown ? result.data?.body : undefined;
  return (
    <>
      <Panel
        title="Try another situation"
        lead="The steps that the server would ask for, with the user’s credentials as they are now. Nothing is written."
        actions={<AsCommand quiet commands={() => requestCommands(simulateSignIn, params, undefined, queryOf(now))} />}
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
            <SituationFields realm={realm} value={now} onChange={set} faults={faults} />
          </div>
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
