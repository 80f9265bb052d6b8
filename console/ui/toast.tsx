// Short messages about what was done, read aloud and gone after a while.
import { useEffect, useSyncExternalStore } from 'react';
import { IconButton } from './button.tsx';
import { Icon } from './icons.tsx';

interface Toast {
  id: number;
  text: string;
  tone: 'good' | 'bad';
}

const SHOWN_MS = 6000;
let toasts: readonly Toast[] = [];
let last = 0;
const listeners = new Set<() => void>();
const change = (next: readonly Toast[]) => {
  toasts = next;
  for (const listener of listeners) listener();
};
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};
const dismiss = (id: number) => change(toasts.filter((toast) => toast.id !== id));

/** Says that something was done; `bad`: that it failed, for failures without a place of their own. */
export function say(text: string, tone: Toast['tone'] = 'good'): void {
  last += 1;
  change([...toasts.slice(-2), { id: last, text, tone }]);
}

function One({ id, text, tone }: Toast) {
  useEffect(() => {
    const timer = setTimeout(() => dismiss(id), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [id]);
  return (
    <div className={`toast ${tone}`}>
      <Icon name={tone === 'good' ? 'check' : 'alert'} />
      <div>{text}</div>
      <IconButton label="Dismiss" icon="close" small onPress={() => dismiss(id)} />
    </div>
  );
}

/** Mounted once; it is there before any message, so that screen readers watch it. */
export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map((toast) => (
        <One key={toast.id} {...toast} />
      ))}
    </div>
  );
}
