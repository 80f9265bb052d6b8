// A list of texts: one line each, in an order that stays.
import { type KeyboardEvent, useId } from 'react';
import { Button, IconButton } from './button.tsx';
import { type FieldProps, FieldSet } from './fields.tsx';

export function ListField({
  value,
  onChange,
  item,
  mono,
  ...words
}: FieldProps & { value: readonly string[]; onChange: (value: string[]) => void; item: string; mono?: boolean }) {
  const id = useId();
  const { isDisabled = false } = words;
  const set = (at: number, text: string) => onChange(value.map((one, i) => (i === at ? text : one)));
  const focus = (at: number) => setTimeout(() => document.getElementById(`${id}-${at}`)?.focus());
  const add = () => {
    onChange([...value, '']);
    focus(value.length);
  };
  const pressed = (event: KeyboardEvent, at: number) => {
    if (event.key === 'Enter') {
      event.preventDefault();
      if (at === value.length - 1 && value[at] !== '') add();
      else focus(at + 1);
    } else if (event.key === 'Backspace' && value[at] === '') {
      event.preventDefault();
      onChange(value.filter((_, i) => i !== at));
      focus(Math.max(0, at - 1));
    }
  };
  return (
    <FieldSet {...words}>
      <div className="items">
        {isDisabled && value.length === 0 && <span className="none">none</span>}
        {value.map((text, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
          <div key={at} className="item">
            <input
              id={`${id}-${at}`}
              className={mono ? 'input mono' : 'input'}
              dir="auto"
              value={text}
              disabled={isDisabled}
              aria-label={`${words.label}, ${at + 1}`}
              autoComplete="off"
              spellCheck={false}
              onChange={({ target }) => set(at, target.value)}
              onKeyDown={(event) => pressed(event, at)}
            />
            {!isDisabled && (
              <IconButton
                label={`Remove ${item} ${at + 1}`}
                icon="close"
                onPress={() => onChange(value.filter((_, i) => i !== at))}
              />
            )}
          </div>
        ))}
        {!isDisabled && (
          <div>
            <Button small icon="add" onPress={add}>
              Add {item}
            </Button>
          </div>
        )}
      </div>
    </FieldSet>
  );
}
