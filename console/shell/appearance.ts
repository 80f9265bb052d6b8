// The reader's choices for this browser: the colour scheme, and the direction in which the page is laid out.
import { useSyncExternalStore } from 'react';

export type Theme = 'system' | 'light' | 'dark';
export type Direction = 'ltr' | 'rtl';
const THEME = 'realmkeeper.theme';
const DIRECTION = 'realmkeeper.direction';

const listeners = new Set<() => void>();
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

const themeNow = (): Theme => {
  const kept = localStorage.getItem(THEME);
  return kept === 'light' || kept === 'dark' ? kept : 'system';
};
const directionNow = (): Direction => (localStorage.getItem(DIRECTION) === 'rtl' ? 'rtl' : 'ltr');

export function applyTheme(): void {
  const { documentElement: root } = document;
  const theme = themeNow();
  if (theme === 'system') delete root.dataset.theme;
  else root.dataset.theme = theme;
  root.dir = directionNow();
}

function keep(name: string, value: string): void {
  localStorage.setItem(name, value);
  applyTheme();
  for (const listener of listeners) listener();
}
export const chooseTheme = (theme: Theme): void => keep(THEME, theme);
export const chooseDirection = (direction: Direction): void => keep(DIRECTION, direction);

export const useTheme = (): Theme => useSyncExternalStore(subscribe, themeNow);
export const useDirection = (): Direction => useSyncExternalStore(subscribe, directionNow);
