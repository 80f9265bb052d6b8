// The steps of a flow side by side with the settings of the chosen one, the commands on them, and the server's check.
import { type KeyboardEvent, useRef, useState } from 'react';
import { useSearchParams } from 'wouter';
import { Button, IconButton } from '../../ui/button.tsx';
import { Panel } from '../../ui/page.tsx';
import { Empty } from '../../ui/state.tsx';
import { AddStep } from './add-step.tsx';
import { type Check, CheckView } from './check.tsx';
import type { useEdits } from './edits.ts';
import { addedAs, neverAsked } from './never-asked.ts';
import { StepSettings } from './step-settings.tsx';
import { type Command, commandOf, StepTree } from './step-tree.tsx';
import {
  changed,
  indented,
  insert,
  moved,
  movedTo,
  neighbourOf,
  outdented,
  type Placed,
  placed,
  type Tree,
  touchedBetween,
  without,
} from './tree-model.ts';
import { labelOf, type Registry } from './words.ts';

const commands: readonly {
  id: Command;
  label: string;
  keys: string;
  icon: 'back' | 'chevron' | 'delete';
  turn: string;
}[] = [
  { id: 'up', label: 'Move up', keys: 'Alt+Up', icon: 'chevron', turn: 'up' },
  { id: 'down', label: 'Move down', keys: 'Alt+Down', icon: 'chevron', turn: 'down' },
  { id: 'outdent', label: 'Move out of the group', keys: 'Alt+Left', icon: 'back', turn: 'start' },
  { id: 'indent', label: 'Move into the group before it', keys: 'Alt+Right', icon: 'back', turn: 'end' },
  { id: 'delete', label: 'Delete the step', keys: 'Delete', icon: 'delete', turn: '' },
];

const results: Partial<Record<Command, (steps: Tree, key: string) => Tree>> = {
  up: (steps, key) => moved(steps, key, -1),
  down: (steps, key) => moved(steps, key, 1),
  indent: indented,
  outdent: outdented,
  delete: without,
};

/** As many frames as a new row of the tree may take. */
const FRAMES = 20;

/** Puts the focus on the step's row as soon as it is there; without a step, on the button that adds one. */
function focusOn(box: HTMLElement | null, key: string | undefined, frames = FRAMES): void {
  requestAnimationFrame(() => {
    const place = key === undefined ? '.panel > header button' : `.tree-row[data-key="${CSS.escape(key)}"]`;
    const element = box?.querySelector<HTMLElement>(place);
    if (element) element.focus();
    else if (frames > 0) focusOn(box, key, frames - 1);
  });
}

export function StepEditor({
  realm,
  registry,
  edits,
  all,
  check,
  isReadOnly,
}: {
  realm: string;
  registry: Registry;
  edits: ReturnType<typeof useEdits>;
  all: readonly Placed[];
  check: Check;
  isReadOnly: boolean;
}) {
  const { steps, edit } = edits;
  const box = useRef<HTMLDivElement>(null);
  const [search, setSearch] = useSearchParams();
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set());
  const [adds, setAdds] = useState(false);
  const [said, setSaid] = useState('');
  const chosen = all.find(({ step }) => step.key === search.get('step'));
  const choose = (key: string | undefined) => {
    const next = new URLSearchParams(search);
    if (key === undefined) next.delete('step');
    else next.set('step', key);
    setSearch(next, { replace: true });
    const parents = new Set<string>();
    let at = all.find(({ step }) => step.key === key);
    while (at?.parent) {
      const { key: parent } = at.parent;
      parents.add(parent);
      at = all.find(({ step }) => step.key === parent);
    }
    if ([...parents].some((parent) => collapsed.has(parent)))
      setCollapsed(new Set([...collapsed].filter((one) => !parents.has(one))));
  };
  const put = (next: Tree, key: string, words: string) => {
    if (next === steps) {
      setSaid(`${words}: not possible here.`);
      return;
    }
    edit(next);
    const to = placed(next).find(({ step }) => step.key === key);
    if (to?.parent) {
      const { key: parent } = to.parent;
      setCollapsed(new Set([...collapsed].filter((one) => one !== parent)));
    }
    setSaid(to ? `${labelOf(to.step, registry)} is now ${to.number}.` : 'The step is deleted.');
  };
  const run = (command: Command, byKeyboard = false) => {
    if (command === 'add') return setAdds(true);
    if (command === 'undo' || command === 'redo') {
      const next = command === 'undo' ? edits.before : edits.after;
      if (!next) return;
      edits[command]();
      const key = touchedBetween(steps, next, chosen?.step.key);
      choose(key);
      if (byKeyboard) focusOn(box.current, key);
      return setSaid(command === 'undo' ? 'The last edit is undone.' : 'The edit is made again.');
    }
    if (!chosen) return setSaid('Choose a step first.');
    const { key } = chosen.step;
    const label = commands.find(({ id }) => id === command)?.label ?? '';
    const next = results[command]?.(steps, key) ?? steps;
    const kept = command === 'delete' ? neighbourOf(steps, key) : key;
    if (command === 'delete') choose(kept);
    put(next, key, label);
    // the last step takes the tree with it
    if (byKeyboard || kept === undefined) focusOn(box.current, kept);
  };
  const faults = new Map<string, string[]>();
  for (const { at, message } of check.faults)
    if (at) faults.set(at.step.key, [...(faults.get(at.step.key) ?? []), message]);
  const idle = neverAsked(steps, registry);
  const own = check.faults.filter(({ at }) => at?.step.key === chosen?.step.key && chosen !== undefined);
  // undo also works from the buttons above the tree, and where no step is left
  const pressed = (event: KeyboardEvent) => {
    const command = commandOf(event);
    const isHere = command === 'undo' || command === 'redo' || (command === 'add' && steps.length === 0);
    if (isReadOnly || command === undefined || !isHere) return;
    event.preventDefault();
    event.stopPropagation();
    run(command, true);
  };
  return (
    <div className="flow-split steps-first">
      <div className="stack" ref={box} onKeyDownCapture={pressed}>
        <Panel
          title="Steps"
          lead="In order, from top to bottom"
          plain
          actions={
            !isReadOnly && (
              <Button icon="add" onPress={() => setAdds(true)}>
                Add a step
              </Button>
            )
          }
        >
          {!isReadOnly && (
            <div className="flow-tools" role="toolbar" aria-label="The chosen step">
              {commands.map(({ id, label, keys, icon, turn }) => (
                <IconButton
                  key={id}
                  label={`${label} (${keys})`}
                  icon={icon}
                  small
                  className={`turn-${turn}`}
                  isDisabled={!chosen || results[id]?.(steps, chosen.step.key) === steps}
                  onPress={() => run(id)}
                />
              ))}
              <span className="row flow-undo">
                <Button small variant="quiet" isDisabled={!edits.before} onPress={() => run('undo')}>
                  Undo
                </Button>
                <Button small variant="quiet" isDisabled={!edits.after} onPress={() => run('redo')}>
                  Redo
                </Button>
              </span>
            </div>
          )}
          {steps.length === 0 ? (
            <Empty icon="flow" title="No steps yet">
              <p>Add a first step, such as the username and password.</p>
            </Empty>
          ) : (
            <StepTree
              steps={steps}
              all={all}
              registry={registry}
              faults={faults}
              idle={idle}
              chosen={chosen?.step.key}
              onChoose={choose}
              collapsed={collapsed}
              onCollapse={setCollapsed}
              onCommand={(command) => run(command, true)}
              onDrop={(key, target, where) => put(movedTo(steps, key, target, where), key, 'Move')}
              isReadOnly={isReadOnly}
            />
          )}
        </Panel>
        <p className="hint" role="status">
          {said ||
            (isReadOnly
              ? ''
              : 'In the tree: arrows move the choice, Alt with an arrow moves the step, Insert adds one, Delete removes it.')}
        </p>
      </div>
      <div className="stack">
        {!isReadOnly && (
          <CheckView
            check={check}
            idle={all.filter(({ step }) => idle.has(step.key))}
            registry={registry}
            onChoose={choose}
          />
        )}
        {chosen ? (
          <StepSettings
            key={chosen.step.key}
            realm={realm}
            at={chosen}
            registry={registry}
            idle={idle.get(chosen.step.key)}
            faults={own.filter(({ field }) => !field.startsWith('config.')).map(({ message }) => message)}
            fieldFaults={new Map(own.map(({ field, message }) => [field, message]))}
            onChange={(change) =>
              edit(changed(steps, chosen.step.key, change), `${chosen.step.key} ${Object.keys(change).join()}`)
            }
            isDisabled={isReadOnly}
          />
        ) : (
          <Panel plain>
            <Empty icon="settings" title="Choose a step">
              <p>Its requirement and its settings are shown here.</p>
            </Empty>
          </Panel>
        )}
      </div>
      {adds && (
        <AddStep
          registry={registry}
          where={
            chosen
              ? chosen.step.authenticatorId === null
                ? `into ${chosen.number}`
                : `after ${chosen.number}`
              : 'at the end'
          }
          onClose={() => setAdds(false)}
          onAdd={(step) => {
            setAdds(false);
            const next = insert(steps, chosen?.step.key, step);
            put(
              next === steps ? steps : changed(next, step.key, { requirement: addedAs(next, step, registry) }),
              step.key,
              'Add a step',
            );
            choose(step.key);
            focusOn(box.current, step.key);
          }}
        />
      )}
    </div>
  );
}
