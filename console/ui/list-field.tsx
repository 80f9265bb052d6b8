// A list of texts: one line each, in an order that stays.
import { type KeyboardEvent, useId } from 'react';
import { Button, IconButton } from './button.tsx';
import { type FieldProps, FieldSet } from './fields.tsx';

export function ListField({
  value,
  onChange,
  item,
  mono,
  placeholder,
  ...words
}: FieldProps & {
  value: readonly string[];
  onChange: (value: string[]) => void;
  item: string;
  mono?: boolean;
  placeholder?: string;
}) {
  const id = useId();
  const { isDisabled = false, fault } = words;
  // the fault of one line begins with its place
  const faulty = fault === undefined ? undefined : /^\[(\d+)\]/.exec(fault)?.[1];
  const isFaulty = (at: number) => fault !== undefined && (faulty === undefined || Number(faulty) === at);
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
              placeholder={at === 0 ? placeholder : undefined}
              aria-label={`${words.label}, ${at + 1}`}
              aria-invalid={isFaulty(at) || undefined}
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
