// A name of another kind's object: a combo box that searches that kind on the server. What it doesn't find may be typed, as
// the reader may not be allowed to list the kind.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ComboBox } from 'react-aria-components/ComboBox';
import { Label } from 'react-aria-components/Label';
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { Popover } from 'react-aria-components/Popover';
import { call } from '../api/client.ts';
import { useMay } from '../api/session.ts';
import { IconButton } from '../ui/button.tsx';
import { ComboInput } from '../ui/combo-input.tsx';
import { type FieldProps, FieldSet } from '../ui/fields.tsx';
import { useLater } from '../ui/later.ts';
import { kindOf } from './all.ts';
import type { KindEntry, Row } from './entry.ts';
import { kindNow } from './loaded.ts';
import { useNameOf, wordsOf } from './name-of.tsx';
import { idOf } from './pages.tsx';

const SHOWN = 20;

interface Choice {
  id: string;
  words: string;
}

/** Objects of the kind whose names have the text. */
function useChoices(entry: KindEntry | undefined, realm: string, text: string, byId: boolean): readonly Choice[] {
  const may = useMay();
  const enabled = entry !== undefined && !entry.ofClient && may.partly(realm, entry.read);
  const q = useLater(entry?.searches ? text : '');
  const { data } = useQuery({
    queryKey: [realm, 'choices', entry?.section, q],
    enabled,
    queryFn: async ({ signal }) => {
      if (!entry) return [];
      const { routes } = await kindNow(entry);
      const query = entry.searches ? { limit: SHOWN, ...(q !== '' && { q }) } : { limit: 200 };
      return (await call(routes.list, { params: { realm }, query, signal })).body as Row[];
    },
    placeholderData: (before) => before,
  });
  if (!entry || !data) return [];
  return data
    .map((row) => ({ id: byId ? idOf(entry, row) : wordsOf(entry, row), words: wordsOf(entry, row) }))
    .filter(({ words }) => entry.searches || words.toLowerCase().includes(text.toLowerCase()))
    .slice(0, SHOWN);
}

interface Named extends FieldProps {
  realm: string;
  kind: string;
  hideLabel?: boolean;
}

/** @param value the object's natural key, or its id where the field holds ids */
export function ReferenceField({
  realm,
  kind,
  value,
  onChange,
  byId = false,
  autoFocus = false,
  hideLabel,
  label,
  help,
  fault,
  isDisabled,
}: Named & { value: string | null; onChange: (value: string | null) => void; byId?: boolean; autoFocus?: boolean }) {
  const entry = kindOf(kind);
  const [text, setText] = useState(value ?? '');
  const [isTyped, setIsTyped] = useState(false);
  const [picked, setPicked] = useState<string | null>(null);
  // the name that is chosen does not narrow the choices
  const found = useChoices(entry, realm, isTyped ? text : '', byId);
  const name = useNameOf(entry, realm, byId ? value : null);
  const named = value !== null && name !== undefined ? { id: value, words: name } : undefined;
  // without its own choice the value would be dropped as the field is left
  const choices = named && found.every(({ id }) => id !== named.id) ? [named, ...found] : found;
  const chosen = choices.find(({ id }) => id === value);
  return (
    <ComboBox
      className="field"
      allowsCustomValue={!byId}
      autoFocus={autoFocus}
      menuTrigger="input"
      allowsEmptyCollection
      inputValue={byId && chosen && text === value ? chosen.words : text}
      onInputChange={(typed) => {
        setText(typed);
        setIsTyped(true);
        setPicked(null);
        if (!byId || typed === '') onChange(typed === '' ? null : typed);
      }}
      // a name is its own text; a value that changed with each letter would close the choices
      value={byId ? value : picked}
      onChange={(key) => {
        if (key === null) return;
        setIsTyped(false);
        setPicked(String(key));
        onChange(String(key));
        setText(byId ? (choices.find(({ id }) => id === key)?.words ?? '') : String(key));
      }}
      items={choices}
      defaultFilter={() => true}
      isInvalid={fault !== undefined}
      {...(isDisabled !== undefined && { isDisabled })}
      {...(hideLabel && { 'aria-label': label })}
    >
      {!hideLabel && <Label>{label}</Label>}
      <ComboInput label={label} placeholder={`Find ${entry?.one ?? kind}`} />
      {help && <span className="hint">{help}</span>}
      {fault && <span className="fault">{fault}</span>}
      <Popover className="popover" offset={4}>
        <ListBox<Choice>
          className="menu"
          aria-label={entry?.many ?? kind}
          renderEmptyState={() => <p className="hint menu-heading">Nothing found</p>}
        >
          {({ id, words }) => (
            <ListBoxItem id={id} textValue={words} className="menu-item">
              <bdi>{words}</bdi>
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}

/** Several of them. */
export function ReferencesField({
  realm,
  kind,
  value,
  onChange,
  ...words
}: Named & { value: readonly string[]; onChange: (value: string[]) => void }) {
  const [round, setRound] = useState(0);
  const { isDisabled = false } = words;
  return (
    <FieldSet {...words}>
      <div className="items">
        {value.length > 0 && (
          <span className="chips">
            {value.map((name) => (
              <span key={name} className="chip">
                <bdi>{name}</bdi>
                {!isDisabled && (
                  <IconButton
                    label={`Remove ${name}`}
                    icon="close"
                    small
                    onPress={() => onChange(value.filter((one) => one !== name))}
                  />
                )}
              </span>
            ))}
          </span>
        )}
        {!isDisabled && (
          <Adding
            key={round}
            realm={realm}
            kind={kind}
            label={words.label}
            taken={value}
            onAdd={(name) => {
              onChange([...value, name]);
              setRound(round + 1);
            }}
          />
        )}
      </div>
    </FieldSet>
  );
}

function Adding({
  realm,
  kind,
  label,
  taken,
  onAdd,
}: {
  realm: string;
  kind: string;
  label: string;
  taken: readonly string[];
  onAdd: (name: string) => void;
}) {
  const entry = kindOf(kind);
  const [text, setText] = useState('');
  const choices = useChoices(entry, realm, text, false).filter(({ id }) => !taken.includes(id));
  return (
    <ComboBox
      aria-label={`Add to ${label}`}
      className="field"
      allowsCustomValue
      menuTrigger="input"
      allowsEmptyCollection
      inputValue={text}
      onInputChange={setText}
      value={null}
      onChange={(key) => {
        const name = key === null ? text.trim() : String(key);
        if (name !== '' && !taken.includes(name)) onAdd(name);
      }}
      items={choices}
      defaultFilter={() => true}
    >
      <ComboInput label={label} placeholder={`Add ${entry?.one ?? kind}`} />
      <Popover className="popover" offset={4}>
        <ListBox<Choice>
          className="menu"
          aria-label={entry?.many ?? kind}
          renderEmptyState={() => <p className="hint menu-heading">Nothing found; Enter adds what is typed</p>}
        >
          {({ id, words }) => (
            <ListBoxItem id={id} textValue={words} className="menu-item">
              <bdi>{words}</bdi>
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}
