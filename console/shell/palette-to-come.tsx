// The place of the command palette while its code is loaded: a field that takes the letters which are typed meanwhile.
import { useEffect, useRef } from 'react';
import { Icon } from '../ui/icons.tsx';

export function PaletteToCome({
  text,
  onText,
  onClose,
}: {
  text: string;
  onText: (text: string) => void;
  onClose: () => void;
}) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  return (
    <div className="veil">
      <div className="modal palette" role="dialog" aria-modal="true" aria-label="Search" aria-busy="true">
        <div className="search">
          <Icon name="search" />
          <input
            ref={field}
            type="search"
            className="input"
            aria-label="Search for pages, realms and objects"
            placeholder="Search for pages, realms, users, objects…"
            value={text}
            onChange={({ target }) => onText(target.value)}
            onKeyDown={({ key }) => key === 'Escape' && onClose()}
          />
        </div>
      </div>
    </div>
  );
}
