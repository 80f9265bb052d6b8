// What pages show of objects: nothing in it may hide, or turn the rest around. What is stored already stays. Pure.
import { HIDES, hasHiddenCharacters } from '../contract/names.ts';
import type { FieldError } from '../contract/problem.ts';
import type { Saved } from './part.ts';

/** Lines and tabs are for who writes several; joiners are part of how some languages are spelt. */
const PROSE = /[\t\n\r\u200c\u200d]/gu;
const plain: Readonly<Record<string, (text: string) => string>> = {
  name: (text) => text,
  displayName: (text) => text,
  description: (text) => text.replaceAll(PROSE, ''),
};

export const hiddenFaults = ({ fields, changed }: Saved): FieldError[] =>
  Object.entries(plain).flatMap(([path, of]) => {
    const value = changed.includes(path) ? fields[path] : undefined;
    return typeof value === 'string' && hasHiddenCharacters(of(value)) ? [{ path, message: HIDES }] : [];
  });
