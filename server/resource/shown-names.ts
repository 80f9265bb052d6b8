// Rules for names that pages show: no invisible or text-reversing characters. Stored values stay. Pure.
import { HIDES, hasHiddenCharacters } from '../contract/names.ts';
import type { FieldError } from '../contract/problem.ts';
import type { Saved } from './part.ts';

/** Allowed in longer texts: line breaks, tabs, and joiners, which some languages need. */
const PROSE = /[\t\n\r\u200c\u200d]/gu;
const plain: Readonly<Record<string, (text: string) => string>> = {
  name: (text) => text,
  displayName: (text) => text,
  description: (text) => text.replaceAll(PROSE, ''),
};

/** Field errors of changed names that hold invisible or direction-changing characters. */
export const hiddenFaults = ({ fields, changed }: Saved): FieldError[] =>
  Object.entries(plain).flatMap(([path, of]) => {
    const value = changed.includes(path) ? fields[path] : undefined;
    return typeof value === 'string' && hasHiddenCharacters(of(value)) ? [{ path, message: HIDES }] : [];
  });
