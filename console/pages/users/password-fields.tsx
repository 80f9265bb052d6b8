// A new password for a user: typed, or made here; shown on demand, and whether the user must choose another one.
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Checkbox } from '../../ui/choices.tsx';
import { CopyButton } from '../../ui/code.tsx';
import { TextField } from '../../ui/fields.tsx';

const GENERATED_BYTES = 18;
/** Random, with a character of each class that a realm's rules may ask for. */
export function generatedPassword(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(GENERATED_BYTES));
  const text = btoa(String.fromCharCode(...bytes));
  return `${text.replaceAll('+', '-').replaceAll('/', '_')}aA1-`;
}

export function PasswordFields({
  label,
  password,
  temporary,
  fault,
  autoFocus = false,
  onChange,
}: {
  label: string;
  password: string;
  temporary: boolean;
  fault: string | undefined;
  autoFocus?: boolean;
  onChange: (changes: { password?: string; temporary?: boolean }) => void;
}) {
  const [isShown, setShown] = useState(false);
  return (
    <div className="stack tight">
      <TextField
        label={label}
        type={isShown ? 'text' : 'password'}
        autoComplete="new-password"
        mono={isShown}
        value={password}
        onChange={(text) => onChange({ password: text })}
        fault={fault}
        most={512}
        {...(autoFocus && { autoFocus })}
      />
      <div className="row">
        <Button small onPress={() => setShown(!isShown)} isDisabled={password === ''}>
          {isShown ? 'Hide the password' : 'Show the password'}
        </Button>
        <Button
          small
          onPress={() => {
            onChange({ password: generatedPassword() });
            setShown(true);
          }}
        >
          Generate
        </Button>
        {password !== '' && <CopyButton text={password} label="Copy the password" />}
      </div>
      <Checkbox
        label="The user must choose another one at the next sign-in"
        isSelected={temporary}
        onChange={(on) => onChange({ temporary: on })}
      />
    </div>
  );
}
