// The decision for a user or a client, with its reasons: asked anew with each choice and after each change of a policy. Nothing is
// written. The question is in the address.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type ConsoleAnswer, call, type OutputOf, type ServerProblem } from '../../api/client.ts';
import { evaluateAuthorization } from '../../generated/routes.ts';
import { requestCommands } from '../../kinds/commands.ts';
import { FieldInput } from '../../kinds/field-input.tsx';
import { ReferenceField } from '../../kinds/reference-field.tsx';
import { UserField } from '../../kinds/user-field.tsx';
import { TimeField } from '../../kinds/value-inputs.tsx';
import { AsCommand } from '../../ui/as-command.tsx';
import { Checkbox } from '../../ui/choices.tsx';
import { FieldSet, Select } from '../../ui/fields.tsx';
import { useFilters } from '../../ui/filters.ts';
import { Panel } from '../../ui/page.tsx';
import { Empty, Loading, ProblemNote } from '../../ui/state.tsx';
import { Decision } from './decision.tsx';
import type { Service } from './model.ts';

type Result = OutputOf<typeof evaluateAuthorization>;

export function Evaluate({ realm, id, service }: { realm: string; id: string; service: Service }) {
  const filters = useFilters();
  const userId = filters.get('user') || null;
  const clientId = filters.get('client') || null;
  const resource = service.resources.find(({ name }) => name === filters.get('resource'));
  const scopes = filters
    .get('scopes')
    .split(' ')
    .filter((name) => resource?.scopes.includes(name));
  const time = Number(filters.get('time')) || null;
  const [attributes, setAttributes] = useState<Record<string, string[]>>({});
  const context = {
    ...(time !== null && { time }),
    ...(Object.keys(attributes).length > 0 && { attributes }),
  };
  const body = {
    ...(userId !== null && { userId }),
    ...(clientId !== null && { clientId }),
    permissions: [{ resource: resource?.name ?? '', ...(scopes.length > 0 && { scopes }) }],
    ...(Object.keys(context).length > 0 && { context }),
  };
  const isAsked = resource !== undefined && (userId !== null || clientId !== null);
  const params = { realm, clientId: id };
  const evaluation = useQuery<ConsoleAnswer<Result>, ServerProblem>({
    queryKey: [realm, 'evaluate', id, body],
    queryFn: ({ signal }) => call(evaluateAuthorization, { params, body, signal }),
    enabled: isAsked,
    retry: false,
    placeholderData: (before) => before,
  });
  const results = evaluation.data?.body?.results ?? [];
  return (
    <Panel
      title="Evaluate"
      lead="What would be decided, and why"
      actions={isAsked && <AsCommand quiet commands={() => requestCommands(evaluateAuthorization, params, body)} />}
    >
      <div className="stack">
        {service.resources.length === 0 ? (
          <Empty icon="role" title="There is nothing to ask about">
            <p>Add a resource first.</p>
          </Empty>
        ) : (
          <>
            <UserField
              realm={realm}
              label="User"
              help="Empty: the client itself asks, with the roles of its service account."
              value={userId}
              onChange={(user) => filters.set({ user })}
            />
            <ReferenceField
              realm={realm}
              kind="client"
              label="Client that asks"
              value={clientId}
              onChange={(client) => filters.set({ client })}
            />
            <Select
              label="Resource"
              value={resource?.name ?? null}
              onChange={(name) => filters.set({ resource: name, scopes: null })}
              options={service.resources.map(({ name, displayName }) => ({
                id: name,
                label: name,
                ...(displayName !== null && { help: displayName }),
              }))}
            />
            {resource && resource.scopes.length > 0 && (
              <FieldSet label="Scopes" help="None: all of the resource.">
                <div className="items">
                  {resource.scopes.map((scope) => (
                    <Checkbox
                      key={scope}
                      label={scope}
                      isSelected={scopes.includes(scope)}
                      onChange={(on) =>
                        filters.set({
                          scopes: resource.scopes
                            .filter((one) => (one === scope ? on : scopes.includes(one)))
                            .join(' '),
                        })
                      }
                    />
                  ))}
                </div>
              </FieldSet>
            )}
            <TimeField
              label="As if it were"
              help="Empty: now."
              value={time}
              onChange={(value) => filters.set({ time: typeof value === 'number' ? String(value) : null })}
            />
            <FieldInput
              field={{
                name: 'attributes',
                label: 'Request attributes',
                help: 'What the request says of itself, for policies on attributes of the context.',
                type: { is: 'map', value: { is: 'list', item: { is: 'text' } } },
                nullable: false,
                required: false,
              }}
              path="context.attributes"
              value={attributes}
              onChange={(value) => setAttributes(Object(value))}
              context={{ realm, faults: new Map() }}
            />
          </>
        )}
        <div className="stack" aria-live="polite">
          {!isAsked && service.resources.length > 0 && (
            <p className="hint">Choose a resource, and a user or a client.</p>
          )}
          {isAsked && evaluation.error && (
            <ProblemNote problem={evaluation.error} retry={() => void evaluation.refetch()} />
          )}
          {isAsked && !evaluation.error && !evaluation.data && <Loading lines={3} />}
          {isAsked && !evaluation.error && results.map((result) => <Decision key={result.resource} result={result} />)}
        </div>
      </div>
    </Panel>
  );
}
