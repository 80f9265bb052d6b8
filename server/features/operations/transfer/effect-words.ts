// Pieces of what a changed field does to who uses the realm now, in words. Pure; which field says which is effect-fields.ts's.
import { strings } from '../../../resource/items.ts';

export interface EffectWords {
  message: string;
  /** A user or client that has access now loses it. */
  locksOut: boolean;
}
export type FieldEffect = (from: unknown, to: unknown) => EffectWords[];
export type FieldEffects = Readonly<Record<string, FieldEffect>>;

export const stops = (message: string): EffectWords => ({ message, locksOut: true });
export const changes = (message: string): EffectWords => ({ message, locksOut: false });

const NAMED = 3;
export const some = (names: readonly string[]): string =>
  names.length > NAMED ? `${names.slice(0, NAMED).join(', ')} and ${names.length - NAMED} more` : names.join(', ');

export const without = (from: readonly string[], to: readonly string[]): string[] => {
  const left = new Set(to);
  return from.filter((one) => !left.has(one));
};

/** Whether a number, or the lack of one, became less. */
export const less = (from: unknown, to: unknown): boolean =>
  typeof to === 'number' && (typeof from !== 'number' || to < from);

export const seconds =
  (what: string): FieldEffect =>
  (from, to) =>
    less(from, to) ? [changes(`${what} end sooner: after ${to} seconds`)] : [];

/** At most so many; 0: any number. */
export const atMost =
  (said: (most: number) => string): FieldEffect =>
  (from, to) =>
    typeof to === 'number' && to !== 0 && (from === 0 || less(from, to)) ? [changes(said(to))] : [];

/** A demand that those who don't meet it fail by. */
export const demand =
  (what: string): FieldEffect =>
  (from, to) =>
    to === true && from !== true ? [stops(`refuses ${what}`)] : [];

export const switchedOff =
  (said: EffectWords): FieldEffect =>
  (_, to) =>
    to === false ? [said] : [];
export const switchedOn =
  (said: EffectWords): FieldEffect =>
  (_, to) =>
    to === true ? [said] : [];

/** The names that are there no more, where there are any. */
export const gone =
  (said: (names: string) => EffectWords, names: (value: unknown) => string[] = strings): FieldEffect =>
  (from, to) => {
    const lost = without(names(from), names(to));
    return lost.length > 0 ? [said(some(lost))] : [];
  };

/** A list that lets only those in that it names, and everything where it is empty. */
export const only =
  (said: (names: string) => EffectWords): FieldEffect =>
  (from, to) => {
    const [before, after] = [strings(from), strings(to)];
    const narrower = after.length > 0 && (before.length === 0 || without(before, after).length > 0);
    return narrower ? [said(some(after))] : [];
  };

/** Names of a list of objects. */
export const namesIn =
  (field: string) =>
  (value: unknown): string[] =>
    Array.isArray(value) ? value.map((one) => String(Object(one)[field])) : [];

/** `client/role` of a map of clientIds to roles. */
export const rolesIn = (value: unknown): string[] =>
  Object.entries(Object(value)).flatMap(([clientId, names]) => strings(names).map((role) => `${clientId}/${role}`));
