// How something is looked at: light or dark, on a desktop or a phone, from left to right or from right to left. The address has
// the choice.
import type { ReactNode } from 'react';
import { ToggleButton } from 'react-aria-components/ToggleButton';
import { useSearchParams } from 'wouter';
import type { Scheme } from './colours.ts';

export interface View {
  scheme: Scheme;
  isPhone: boolean;
  isRightToLeft: boolean;
}

export function useView(): { view: View; toggle: (name: 'dark' | 'phone' | 'rtl') => void } {
  const [search, setSearch] = useSearchParams();
  const has = (name: string) => search.has(name);
  return {
    view: { scheme: has('dark') ? 'dark' : 'light', isPhone: has('phone'), isRightToLeft: has('rtl') },
    toggle: (name) =>
      setSearch(
        (before) => {
          const next = new URLSearchParams(before);
          if (next.has(name)) next.delete(name);
          else next.set(name, '1');
          return next;
        },
        { replace: true },
      ),
  };
}

const choices = [
  { name: 'dark', label: 'Dark' },
  { name: 'phone', label: 'Phone' },
  { name: 'rtl', label: 'Right to left' },
] as const;

export function ViewBar({ more }: { more?: ReactNode }) {
  const { view, toggle } = useView();
  const isOn = { dark: view.scheme === 'dark', phone: view.isPhone, rtl: view.isRightToLeft };
  return (
    <div className="row view-bar">
      {choices.map(({ name, label }) => (
        <ToggleButton key={name} className="button small" isSelected={isOn[name]} onChange={() => toggle(name)}>
          {label}
        </ToggleButton>
      ))}
      {more}
    </div>
  );
}
