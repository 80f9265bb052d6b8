// The steps of a flow as a tree. The keyboard comes first: arrows move in it, Alt with an arrow moves the chosen step, Insert adds
// a step and Delete removes one. Drag and drop is there beside it.
import type { KeyboardEvent } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { Collection } from 'react-aria-components/Collection';
import { Tree as AriaTree, TreeItem, TreeItemContent } from 'react-aria-components/Tree';
import { useDragAndDrop } from 'react-aria-components/useDragAndDrop';
import { Badge } from '../../ui/badge.tsx';
import { Icon } from '../../ui/icons.tsx';
import { configWords } from './config-fields.ts';
import { isCondition } from './never-asked.ts';
import { isGroup, type Placed, type Step, type Tree } from './tree-model.ts';
import { labelOf, type Registry, requirementWords } from './words.ts';

export type Command = 'up' | 'down' | 'indent' | 'outdent' | 'add' | 'delete' | 'undo' | 'redo';

const TYPE = 'application/x-realmkeeper-step';

/** The command of a key; the reading direction decides which arrow points into a group. */
export function commandOf(event: KeyboardEvent): Command | undefined {
  const rtl = document.documentElement.dir === 'rtl';
  if (event.altKey && !event.ctrlKey && !event.metaKey) {
    if (event.key === 'ArrowUp') return 'up';
    if (event.key === 'ArrowDown') return 'down';
    if (event.key === 'ArrowRight') return rtl ? 'outdent' : 'indent';
    if (event.key === 'ArrowLeft') return rtl ? 'indent' : 'outdent';
    return undefined;
  }
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'z') return event.shiftKey ? 'redo' : 'undo';
  if (event.ctrlKey || event.metaKey) return undefined;
  if (event.key === 'Insert') return 'add';
  return event.key === 'Delete' ? 'delete' : undefined;
}

export function StepTree({
  steps,
  all,
  registry,
  faults,
  idle,
  chosen,
  onChoose,
  collapsed,
  onCollapse,
  onCommand,
  onDrop,
  isReadOnly,
}: {
  steps: Tree;
  all: readonly Placed[];
  registry: Registry;
  /** Messages by the key of the faulty step. */
  faults: ReadonlyMap<string, readonly string[]>;
  /** By the key of a step that no sign-in asks for: why. */
  idle: ReadonlyMap<string, string>;
  chosen: string | undefined;
  onChoose: (key: string) => void;
  collapsed: ReadonlySet<string>;
  onCollapse: (collapsed: ReadonlySet<string>) => void;
  onCommand: (command: Command) => void;
  onDrop: (key: string, target: string, where: 'before' | 'after' | 'on') => void;
  isReadOnly: boolean;
}) {
  const groups = all.filter(({ step }) => isGroup(step)).map(({ step }) => step.key);
  const numbers = new Map(all.map(({ step, number }) => [step.key, number]));
  const { dragAndDropHooks } = useDragAndDrop<Step>({
    isDisabled: isReadOnly,
    getItems: (keys) => [...keys].map((key) => ({ 'text/plain': String(key), [TYPE]: String(key) })),
    acceptedDragTypes: [TYPE],
    shouldAcceptItemDrop: ({ key }) => groups.includes(String(key)),
    onMove: ({ keys, target }) => {
      const [key] = keys;
      if (key !== undefined) onDrop(String(key), String(target.key), target.dropPosition);
    },
  });
  const pressed = (event: KeyboardEvent) => {
    const command = commandOf(event);
    if (command === undefined || isReadOnly) return;
    event.preventDefault();
    event.stopPropagation();
    onCommand(command);
  };
  const dependencies = [numbers, faults, idle, registry, isReadOnly, chosen];
  const row = (step: Step) => (
    <StepRow
      step={step}
      number={numbers.get(step.key) ?? ''}
      registry={registry}
      faults={faults.get(step.key) ?? []}
      idle={idle.get(step.key)}
      isReadOnly={isReadOnly}
    >
      <Collection items={step.children} dependencies={dependencies}>
        {row}
      </Collection>
    </StepRow>
  );
  return (
    <div onKeyDownCapture={pressed}>
      <AriaTree<Step>
        aria-label="Steps of the flow"
        className="tree steps"
        items={steps}
        dependencies={dependencies}
        selectionMode="single"
        selectionBehavior="replace"
        selectedKeys={chosen === undefined ? [] : [chosen]}
        onSelectionChange={(keys) => {
          const [key] = keys === 'all' ? [] : [...keys];
          if (key !== undefined) onChoose(String(key));
        }}
        expandedKeys={groups.filter((key) => !collapsed.has(key))}
        onExpandedChange={(open) => onCollapse(new Set(groups.filter((key) => !open.has(key))))}
        {...(!isReadOnly && { dragAndDropHooks })}
        renderEmptyState={() => <p className="hint tree-empty">The flow has no steps yet.</p>}
      >
        {row}
      </AriaTree>
    </div>
  );
}

function StepRow({
  step,
  number,
  registry,
  faults,
  idle,
  isReadOnly,
  children,
}: {
  step: Step;
  number: string;
  registry: Registry;
  faults: readonly string[];
  /** Why no sign-in asks for it. */
  idle: string | undefined;
  isReadOnly: boolean;
  children: React.ReactNode;
}) {
  const label = labelOf(step, registry);
  const condition = isCondition(step, registry);
  const words = condition && step.requirement !== 'DISABLED' ? 'Condition' : requirementWords[step.requirement];
  const settings = configWords(step.config);
  const said = [`${number} ${label}`, words, settings, idle ?? '', ...faults].filter((part) => part !== '').join(', ');
  return (
    <TreeItem
      id={step.key}
      textValue={said}
      className="tree-row"
      data-off={step.requirement === 'DISABLED' || undefined}
    >
      <TreeItemContent>
        {({ hasChildItems, isExpanded }) => (
          <div className="tree-line">
            {!isReadOnly && (
              <AriaButton slot="drag" className="tree-drag" aria-label={`Drag ${label}`}>
                <Icon name="menu" size={14} />
              </AriaButton>
            )}
            {isGroup(step) && hasChildItems ? (
              <AriaButton
                slot="chevron"
                className="tree-chevron"
                data-open={isExpanded || undefined}
                aria-label={isExpanded ? 'Close the group' : 'Open the group'}
              >
                <Icon name="chevron" size={14} />
              </AriaButton>
            ) : (
              <span className="tree-chevron" />
            )}
            <span className="step-number">{number}</span>
            <span className="step-words">
              <bdi className={isGroup(step) ? 'step-group' : undefined}>{label}</bdi>
              {isGroup(step) && !hasChildItems && <span className="soft small">empty</span>}
              {settings !== '' && (
                <span className="soft small" dir="auto">
                  {settings}
                </span>
              )}
            </span>
            <span className="tree-end">
              {faults.length > 0 && <Badge tone="bad">to correct</Badge>}
              {faults.length === 0 && idle && <Badge tone="warn">never asked</Badge>}
              <Badge {...(condition ? { tone: 'warn' as const } : step.requirement === 'REQUIRED' && { tone: 'info' })}>
                {words}
              </Badge>
            </span>
          </div>
        )}
      </TreeItemContent>
      {children}
    </TreeItem>
  );
}
