// A field that searches a list on the server: the text goes into the address a moment after the last key.
import { useEffect, useState } from 'react';
import { Input } from 'react-aria-components/Input';
import { SearchField } from 'react-aria-components/SearchField';
import { IconButton } from './button.tsx';
import { Icon } from './icons.tsx';

const PAUSE_MS = 250;

export function Find({
  label,
  value,
  onChange,
  placeholder = label,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  placeholder?: string;
}) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what is typed starts the clock
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => onChange(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <SearchField
      aria-label={label}
      className="search"
      value={text}
      onChange={setText}
      onSubmit={onChange}
      data-empty={text === '' || undefined}
    >
      <Icon name="search" />
      <Input className="input" placeholder={placeholder} />
      <IconButton label="Clear" icon="close" small />
    </SearchField>
  );
}
