// The settings of the chosen step: its requirement, the name of a group, and the settings of its authenticator.
import type { Requirement } from '../../../server/contract/flows.ts';
import { FieldInput } from '../../kinds/field-input.tsx';
import { Select, TextField } from '../../ui/fields.tsx';
import { Panel } from '../../ui/page.tsx';
import { Note } from '../../ui/state.tsx';
import { configFields, withSetting } from './config-fields.ts';
import { isGroup, type Placed, type Step } from './tree-model.ts';
import { labelOf, natureOf, type Registry, requirementsOf } from './words.ts';

export function StepSettings({
  realm,
  at,
  registry,
  idle,
  faults,
  fieldFaults,
  onChange,
  isDisabled,
}: {
  realm: string;
  at: Placed;
  registry: Registry;
  /** Why no sign-in asks for it. */
  idle: string | undefined;
  /** The faults of the step, in words. */
  faults: readonly string[];
  /** The same by field: `config.roles`. */
  fieldFaults: ReadonlyMap<string, string>;
  onChange: (change: Partial<Step>) => void;
  isDisabled: boolean;
}) {
  const { step, number, parent } = at;
  const authenticator = step.authenticatorId === null ? undefined : registry.get(step.authenticatorId);
  const fields = configFields(authenticator?.configSchema);
  return (
    <Panel title={`${number} ${labelOf(step, registry)}`}>
      <div className="stack">
        <p className="soft">
          {isGroup(step)
            ? 'A group: its steps are done in order, and its requirement counts for all of them together.'
            : natureOf(authenticator)}
          {parent && ` It is in the group “${labelOf(parent, registry)}”.`}
        </p>
        {faults.length > 0 && (
          <Note tone="bad">
            {faults.map((fault) => (
              <span key={fault}>{fault}</span>
            ))}
          </Note>
        )}
        {idle !== undefined && faults.length === 0 && <Note tone="warn">{idle}</Note>}
        {isGroup(step) && (
          <TextField
            label="Name of the group"
            help="Administrators read it here; users never see it."
            value={step.name ?? ''}
            onChange={(name) => onChange({ name: name === '' ? null : name })}
            most={200}
            isDisabled={isDisabled}
            fault={fieldFaults.get('name')}
          />
        )}
        <Select
          label="Requirement"
          options={requirementsOf(step, registry)}
          value={step.requirement}
          onChange={(requirement) => requirement !== null && onChange({ requirement: requirement as Requirement })}
          isDisabled={isDisabled}
          help={requirementsOf(step, registry).find(({ id }) => id === step.requirement)?.help}
          fault={fieldFaults.get('requirement')}
        />
        {fields.map((field) => (
          <FieldInput
            key={`${step.key} ${field.name}`}
            field={field}
            path={`config.${field.name}`}
            value={step.config[field.name]}
            onChange={(value) => onChange({ config: withSetting(step.config, field, value) })}
            context={{ realm, faults: fieldFaults, isDisabled }}
          />
        ))}
        {!isGroup(step) && authenticator && fields.length === 0 && (
          <p className="hint">It has no settings of its own.</p>
        )}
      </div>
    </Panel>
  );
}
