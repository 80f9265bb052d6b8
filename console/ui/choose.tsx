// One of many, found by typing a part of its name. It is empty again after each choice: the page shows elsewhere what was chosen.
import { useState } from 'react';
import { ComboBox } from 'react-aria-components/ComboBox';
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { Popover } from 'react-aria-components/Popover';
import { ComboInput } from './combo-input.tsx';

interface Choice {
  id: string;
  label: string;
}

/** A list of more would be slow to open; typing narrows it. */
const SHOWN = 100;

export function Choose({
  label,
  placeholder = label,
  options,
  onChoose,
}: {
  label: string;
  placeholder?: string;
  options: readonly Choice[];
  onChoose: (id: string) => void;
}) {
  const [round, setRound] = useState(0);
  return (
    <Once
      key={round}
      label={label}
      placeholder={placeholder}
      options={options}
      onChoose={(id) => {
        onChoose(id);
        setRound(round + 1);
      }}
    />
  );
}

function Once({
  label,
  placeholder,
  options,
  onChoose,
}: {
  label: string;
  placeholder: string;
  options: readonly Choice[];
  onChoose: (id: string) => void;
}) {
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const found = options.filter((option) => option.label.toLowerCase().includes(wanted)).slice(0, SHOWN);
  return (
    <ComboBox
      aria-label={label}
      className="field"
      menuTrigger="input"
      allowsEmptyCollection
      inputValue={text}
      onInputChange={setText}
      value={null}
      onChange={(key) => {
        if (key !== null) onChoose(String(key));
      }}
      items={found}
      defaultFilter={() => true}
    >
      <ComboInput label={label} placeholder={placeholder} />
      <Popover className="popover" offset={4}>
        <ListBox<Choice>
          className="menu"
          aria-label={label}
          renderEmptyState={() => <p className="hint menu-heading">Nothing found</p>}
        >
          {({ id, label: words }) => (
            <ListBoxItem id={id} textValue={words} className="menu-item">
              <bdi>{words}</bdi>
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}
