// The steps that can be added to a flow: a group of steps, and each authenticator of the registry with what it is.
import { useState } from 'react';
import { Header } from 'react-aria-components/Header';
import { ListBox, ListBoxItem, ListBoxSection } from 'react-aria-components/ListBox';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/fields.tsx';
import { newStep, type Step } from './tree-model.ts';
import { type Authenticator, natureOf, type Registry } from './words.ts';

const sections = [
  { id: 'METHOD', title: 'Ways to sign in' },
  { id: 'CONDITION', title: 'Conditions' },
  { id: 'FIRST_SIGN_IN', title: 'First sign-in with an identity provider' },
] as const;
const GROUP = ' group';

const stepFor = ({ id, category }: Authenticator): Step =>
  newStep(id, category === 'METHOD' && id !== 'username-password' ? 'ALTERNATIVE' : 'REQUIRED');

export function AddStep({
  registry,
  where,
  onAdd,
  onClose,
}: {
  registry: Registry;
  /** In words: `after 2.1`. */
  where: string;
  onAdd: (step: Step) => void;
  onClose: () => void;
}) {
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const isWanted = (...words: string[]) => words.some((word) => word.toLowerCase().includes(wanted));
  const shown = [...registry.values()].filter(({ id, displayName }) => isWanted(id, displayName));
  return (
    <Dialog title="Add a step" isOpen onClose={onClose}>
      <p className="soft">It comes {where}, and can be moved from there.</p>
      <TextField label="Find a step" type="search" value={text} onChange={setText} autoFocus />
      <ListBox
        aria-label="Steps to add"
        className="menu step-choices"
        onAction={(key) => {
          const authenticator = registry.get(String(key));
          if (key === GROUP) onAdd(newStep(null, 'CONDITIONAL'));
          else if (authenticator) onAdd(stepFor(authenticator));
        }}
        renderEmptyState={() => <p className="hint menu-heading">No step has this name.</p>}
      >
        {isWanted('group of steps', 'container') && (
          <ListBoxSection>
            <Header className="menu-heading">Structure</Header>
            <ListBoxItem id={GROUP} textValue="Group of steps" className="menu-item">
              <span>
                Group of steps
                <small>Steps that count together: under conditions, or as one alternative.</small>
              </span>
            </ListBoxItem>
          </ListBoxSection>
        )}
        {sections.map(({ id: category, title }) => {
          const own = shown.filter((one) => one.category === category);
          if (own.length === 0) return null;
          return (
            <ListBoxSection key={category}>
              <Header className="menu-heading">{title}</Header>
              {own.map((one) => (
                <ListBoxItem key={one.id} id={one.id} textValue={one.displayName} className="menu-item">
                  <span>
                    {one.displayName}
                    <small>{natureOf(one)}</small>
                  </span>
                </ListBoxItem>
              ))}
            </ListBoxSection>
          );
        })}
      </ListBox>
    </Dialog>
  );
}
