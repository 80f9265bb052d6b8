// Building blocks for the texts of a changed field's effects. Pure; effect-fields.ts assigns them to fields.
import { strings } from '../../../resource/items.ts';

export interface EffectWords {
  message: string;
  /** A user or client that has access now loses it. */
  locksOut: boolean;
}
export type FieldEffect = (from: unknown, to: unknown) => EffectWords[];
export type FieldEffects = Readonly<Record<string, FieldEffect>>;

export const lockoutEffect = (message: string): EffectWords => ({ message, locksOut: true });
export const changeEffect = (message: string): EffectWords => ({ message, locksOut: false });

const NAMED = 3;
export const namesForMessage = (names: readonly string[]): string =>
  names.length > NAMED ? `${names.slice(0, NAMED).join(', ')} and ${names.length - NAMED} more` : names.join(', ');

export const namesRemoved = (from: readonly string[], to: readonly string[]): string[] => {
  const left = new Set(to);
  return from.filter((one) => !left.has(one));
};

/** Whether a number, or the lack of one, became less. */
export const becameLess = (from: unknown, to: unknown): boolean =>
  typeof to === 'number' && (typeof from !== 'number' || to < from);

export const shorterLifetimeEffect =
  (what: string): FieldEffect =>
  (from, to) =>
    becameLess(from, to) ? [changeEffect(`${what} end sooner: after ${to} seconds`)] : [];

/** The effect of a lower limit; 0: no limit. */
export const atMost =
  (said: (most: number) => string): FieldEffect =>
  (from, to) =>
    typeof to === 'number' && to !== 0 && (from === 0 || becameLess(from, to)) ? [changeEffect(said(to))] : [];

/** The effect of a new requirement: users or clients that don't meet it are refused. */
export const requirementEffect =
  (what: string): FieldEffect =>
  (from, to) =>
    to === true && from !== true ? [lockoutEffect(`refuses ${what}`)] : [];

export const switchedOff =
  (said: EffectWords): FieldEffect =>
  (_, to) =>
    to === false ? [said] : [];
export const switchedOn =
  (said: EffectWords): FieldEffect =>
  (_, to) =>
    to === true ? [said] : [];

/** The effect of removed names; none if no name was removed. */
export const removalEffect =
  (said: (names: string) => EffectWords, names: (value: unknown) => string[] = strings): FieldEffect =>
  (from, to) => {
    const lost = namesRemoved(names(from), names(to));
    return lost.length > 0 ? [said(namesForMessage(lost))] : [];
  };

/** The effect of an allow-list that has become narrower. An empty list allows everyone. */
export const allowListEffect =
  (said: (names: string) => EffectWords): FieldEffect =>
  (from, to) => {
    const [before, after] = [strings(from), strings(to)];
    const narrower = after.length > 0 && (before.length === 0 || namesRemoved(before, after).length > 0);
    return narrower ? [said(namesForMessage(after))] : [];
  };

/** The names in a list of objects. */
export const namesIn =
  (field: string) =>
  (value: unknown): string[] =>
    Array.isArray(value) ? value.map((one) => String(Object(one)[field])) : [];

/** `client/role` for each role in a map of client ids to roles. */
export const rolesIn = (value: unknown): string[] =>
  Object.entries(Object(value)).flatMap(([clientId, names]) => strings(names).map((role) => `${clientId}/${role}`));
