// Fields of forms: a label, what is entered, a hint, what is wrong with it. Each is controlled by the form.
import { type ReactNode, useId } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { Label } from 'react-aria-components/Label';
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { Popover } from 'react-aria-components/Popover';
import { Select as AriaSelect, SelectValue } from 'react-aria-components/Select';
import { Icon } from './icons.tsx';

export interface FieldProps {
  label: string;
  help?: ReactNode;
  fault?: string | undefined;
  required?: boolean;
  isDisabled?: boolean;
}

/** The ids that tie a field's words to what is entered. */
function useWords({ help, fault }: FieldProps) {
  const id = useId();
  const described = [help && `${id}-help`, fault && `${id}-fault`].filter(Boolean).join(' ');
  return { id, described: described === '' ? undefined : described };
}

function Words({ id, help, fault }: { id: string; help?: ReactNode; fault?: string | undefined }) {
  return (
    <>
      {help && (
        <span className="hint" id={`${id}-help`}>
          {help}
        </span>
      )}
      {fault && (
        <span className="fault" id={`${id}-fault`}>
          {fault}
        </span>
      )}
    </>
  );
}

export type TextFieldProps = FieldProps & {
  value: string;
  onChange: (value: string) => void;
  type?: 'text' | 'password' | 'url' | 'email' | 'search';
  rows?: number;
  placeholder?: string;
  /** For names and codes: written from left to right in every language. */
  mono?: boolean;
  most?: number;
  autoComplete?: string;
  autoFocus?: boolean;
};

export function TextField(props: TextFieldProps) {
  const {
    label,
    help,
    fault,
    required,
    isDisabled,
    value,
    onChange,
    type = 'text',
    rows,
    placeholder,
    mono,
    most,
    autoComplete = 'off',
    autoFocus,
  } = props;
  const { id, described } = useWords(props);
  const common = {
    id,
    className: mono ? 'input mono' : 'input',
    dir: 'auto' as const,
    value,
    placeholder,
    required,
    disabled: isDisabled,
    maxLength: most,
    autoComplete,
    autoFocus,
    'aria-invalid': fault !== undefined || undefined,
    'aria-describedby': described,
    spellCheck: false,
  };
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {rows === undefined ? (
        <input {...common} type={type} onChange={({ target }) => onChange(target.value)} />
      ) : (
        <textarea {...common} rows={rows} onChange={({ target }) => onChange(target.value)} />
      )}
      <Words id={id} help={help} fault={fault} />
    </div>
  );
}

/** A whole number; '' is none. */
export function NumberField(
  props: FieldProps & {
    value: number | null;
    onChange: (value: number | null) => void;
    least?: number;
    most?: number;
    unit?: ReactNode;
    placeholder?: string;
  },
) {
  const { label, help, fault, required, isDisabled, value, onChange, least, most, unit, placeholder } = props;
  const { id, described } = useWords(props);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <div className="with-unit">
        <input
          id={id}
          className="input number"
          type="number"
          inputMode="numeric"
          value={value ?? ''}
          min={least}
          max={most}
          placeholder={placeholder}
          required={required}
          disabled={isDisabled}
          aria-invalid={fault !== undefined || undefined}
          aria-describedby={described}
          onChange={({ target }) => onChange(target.value === '' ? null : Number(target.value))}
        />
        {unit}
      </div>
      <Words id={id} help={help} fault={fault} />
    </div>
  );
}

export interface Option {
  id: string;
  label: string;
  help?: string;
}

/** One of few. @param none the label of "no value", if there is one */
export function Select(
  props: FieldProps & {
    value: string | null;
    onChange: (value: string | null) => void;
    options: readonly Option[];
    none?: string;
    hideLabel?: boolean;
  },
) {
  const { label, help, fault, isDisabled, value, onChange, options, none, hideLabel } = props;
  const { id } = useWords(props);
  const all: readonly Option[] = none === undefined ? options : [{ id: '', label: none }, ...options];
  return (
    <div className="field">
      <AriaSelect
        className="field"
        value={value ?? (none === undefined ? null : '')}
        onChange={(chosen) => onChange(chosen === '' || chosen === null ? null : String(chosen))}
        isInvalid={fault !== undefined}
        {...(isDisabled !== undefined && { isDisabled })}
        {...(hideLabel && { 'aria-label': label })}
      >
        {!hideLabel && <Label>{label}</Label>}
        <AriaButton className="input select" {...(help ? { 'aria-describedby': `${id}-help` } : {})}>
          <SelectValue>{({ selectedText }) => selectedText || 'Choose…'}</SelectValue>
          <Icon name="chevron" size={14} />
        </AriaButton>
        <Popover className="popover" offset={4}>
          <ListBox className="menu" aria-label={label} items={all}>
            {({ id: option, label: words, help: more }) => (
              <ListBoxItem id={option} textValue={words} className="menu-item">
                <span>
                  {words}
                  {more && <small>{more}</small>}
                </span>
              </ListBoxItem>
            )}
          </ListBox>
        </Popover>
      </AriaSelect>
      <Words id={id} help={help} fault={fault} />
    </div>
  );
}

/** A group of fields with a name. */
export function FieldSet({ label, help, fault, required, children }: FieldProps & { children: ReactNode }) {
  const id = useId();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset's legend can't be laid out beside its fields
    <div
      className="field"
      role="group"
      aria-labelledby={`${id}-label`}
      aria-describedby={help ? `${id}-help` : undefined}
    >
      <span className={required ? 'label needed' : 'label'} id={`${id}-label`}>
        {label}
      </span>
      <Words id={id} help={help} fault={undefined} />
      {children}
      <Words id={id} fault={fault} />
    </div>
  );
}
