// PATCH (RFC 7644 §3.5.2), with the deviations of Entra and Okta: operations in any case, "True", paths as keys of a
// value without a path, removed members in a value beside the path. The request's names only select attributes of the
// schema, so no path reaches anything else. Pure.
import { isObject } from '../../../contract/json.ts';
import { entraRole, readValue, type Values } from './body.ts';
import { scimProblem } from './fault.ts';
import { type Filter, parsePath } from './filter.ts';
import { matchesFilter, subAttributeOf } from './matches.ts';
import {
  type Attribute,
  type AttributePlace,
  attributeNamed,
  extensionNamed,
  placeOf,
  type ResourceType,
} from './schema.ts';

type Op = 'add' | 'replace' | 'remove';
export interface Operation {
  op: Op;
  path?: string | undefined;
  value?: unknown;
}

/** An operation on one attribute. */
export interface Step extends AttributePlace {
  op: Op;
  filter?: Filter;
  value: unknown;
  /** The path as the client wrote it. */
  path: string;
}

/** Attributes that clients send back unchanged, because they read them: ignored. */
const passedOver = new Set(['schemas', 'id', 'meta', 'groups']);

/**
 * An `add` or a `replace` has a value (RFC 7644 §3.5.2.1): without one it would delete what is there.
 * @throws Problem `invalidPath`, `mutability`, `noTarget`, `invalidValue`
 */
export const stepsOf = (type: ResourceType, operations: readonly Operation[]): Step[] =>
  operations.flatMap(({ op, path, value }) => {
    if (op !== 'remove' && value === undefined)
      throw scimProblem('invalidValue', `${op}${path ? ` of ${path}` : ''} needs a value; remove takes one away`);
    if (path !== undefined && path !== '') return stepAt(type, op, path, value);
    if (op === 'remove') throw scimProblem('noTarget', 'remove needs a path');
    if (!isObject(value)) throw scimProblem('invalidValue', `${op} without a path needs an object as its value`);
    return Object.entries(value).flatMap(([key, one]) => {
      if (passedOver.has(key.toLowerCase())) return [];
      return stepAt(type, op, key, one);
    });
  });

function stepAt(type: ResourceType, op: Op, path: string, value: unknown): Step | Step[] {
  const extension = extensionNamed(type, path);
  if (extension) {
    if (op === 'remove')
      return extension.attributes.map((attribute) => ({ attribute, extension: extension.id, op, value, path }));
    if (!isObject(value)) throw scimProblem('invalidValue', `${path} must be an object`);
    return Object.entries(value).flatMap(([key, one]) =>
      passedOver.has(key.toLowerCase()) ? [] : stepAt(type, op, `${extension.id}:${key}`, one),
    );
  }
  const { path: name, filter, sub: subName } = parsePath(path);
  const place = placeOf(type, subName === undefined ? name : `${name}.${subName}`);
  if (!place) throw scimProblem('invalidPath', `There is no attribute ${path}`);
  const { attribute, sub } = place;
  if (filter && !(attribute.multiValued && attribute.subAttributes))
    throw scimProblem('invalidPath', `${attribute.name} has no values to choose among`);
  if ((sub ?? attribute).mutability === 'readOnly' || attribute.mutability === 'readOnly')
    throw scimProblem('mutability', `${path} can’t be changed`);
  return { ...place, op, value, path, ...(filter && { filter }) };
}

/** The resource after the steps, applied in order. */
export function applyPatch(resource: Readonly<Values>, steps: readonly Step[]): Values {
  const after: Values = structuredClone(resource);
  for (const step of steps) apply(after, step);
  return after;
}

function apply(resource: Values, step: Step): void {
  const { attribute, extension } = step;
  const home = extension === undefined ? resource : { ...Object(resource[extension]) };
  const value = attribute.multiValued ? several(home[attribute.name], step) : single(home[attribute.name], step);
  if (value !== undefined && !(Array.isArray(value) && value.length === 0)) home[attribute.name] = value;
  // RFC 7644 §3.5.2.2, also where null takes it away.
  else if (attribute.required) throw scimProblem('mutability', `${attribute.name} is required: it can’t be removed`);
  else delete home[attribute.name];
  if (extension === undefined) return;
  if (Object.keys(home).length > 0) resource[extension] = home;
  else delete resource[extension];
}

const unlessEmpty = (value: Values): Values | undefined => (Object.keys(value).length > 0 ? value : undefined);

/** Sets one sub-attribute; an undefined value removes it. */
function withPart(parts: Values, sub: Attribute, value: unknown): Values {
  const { [sub.name]: _, ...rest } = parts;
  return value === undefined ? rest : { ...rest, [sub.name]: value };
}

function single(before: unknown, { op, attribute, sub, value }: Step): unknown {
  if (!attribute.subAttributes) return op === 'remove' ? undefined : readValue(attribute, value);
  const parts: Values = { ...Object(before) };
  if (sub) return unlessEmpty(withPart(parts, sub, op === 'remove' ? undefined : readValue(sub, value)));
  if (op === 'remove' || isUnassigned(value)) return undefined;
  const given = readValue(attribute, value);
  return unlessEmpty({ ...without(parts, attribute, value), ...Object(given) });
}

/** A value that means none (RFC 7643 §2.5). An object without known parts doesn't: it changes nothing. */
const isUnassigned = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.every(isUnassigned));

/** The parts but for those that the value says to be none. */
function without(parts: Values, { subAttributes }: Attribute, value: unknown): Values {
  if (!isObject(value)) return parts;
  const gone = Object.entries(value).flatMap(([key, one]) =>
    isUnassigned(one) ? (attributeNamed(subAttributes, key)?.name ?? []) : [],
  );
  return Object.fromEntries(Object.entries(parts).filter(([name]) => !gone.includes(name)));
}

/** A key that identifies a value among an attribute's values. */
const tellsApart = ({ value, type, ...rest }: Values): string =>
  value === undefined ? JSON.stringify({ type, ...rest }) : `${value} ${type ?? ''}`;

function several(before: unknown, step: Step): unknown[] | undefined {
  const { op, attribute, filter } = step;
  const values: Values[] = Array.isArray(before) ? before : [];
  if (filter) return chosen(values, { ...step, filter });
  if (step.sub) {
    const part = op === 'remove' ? undefined : readValue(step.sub, step.value);
    const { sub } = step;
    return values.length === 0 && part !== undefined
      ? [{ [sub.name]: part }]
      : values.map((one) => withPart(one, sub, part));
  }
  // Without a value, all are removed. A serialiser writes the absent value as null.
  if (op === 'remove' && (step.value === undefined || step.value === null)) return undefined;
  const given = (readValue(attribute, step.value) ?? []) as Values[];
  if (given.length === 0 && !isUnassigned(step.value))
    throw scimProblem('invalidValue', `${step.path} must be values with parts that the schema has`);
  if (op === 'replace') return given;
  if (op === 'add') return added(values, given);
  // Entra names the values to remove in `value` instead of the path.
  return values.filter((one) => !given.some((wanted) => isSameValue(attribute, one, wanted)));
}

/** Whether a client that names `wanted` means `one`: by its value, and by its type if it says one; else by all it says. */
function isSameValue(attribute: Attribute, one: Values, wanted: Values): boolean {
  const names = wanted.value === undefined ? Object.keys(wanted) : ['value', 'type'].filter((name) => name in wanted);
  return names.every((name) => {
    const exact = attributeNamed(attribute.subAttributes, name)?.caseExact ?? true;
    const [a, b] = [one[name], wanted[name]].map((part) => String(part ?? ''));
    return exact ? a === b : a?.toLowerCase() === b?.toLowerCase();
  });
}

function added(values: readonly Values[], given: readonly Values[]): Values[] {
  const there = new Set(values.map(tellsApart));
  const fresh = given.filter((one) => !there.has(tellsApart(one)));
  const primary = fresh.some((one) => one.primary === true);
  const kept = primary ? values.map((one) => (one.primary === true ? { ...one, primary: false } : one)) : values;
  return [...kept, ...fresh];
}

/** The filter with a role's name in place of the text that Entra writes for the role. */
function withRoleNames(filter: Filter, attribute: Attribute): Filter {
  if (attribute.name !== 'roles') return filter;
  if (filter.is === 'compare') return { ...filter, value: entraRole(filter.value)?.name ?? filter.value };
  if (filter.is !== 'and' && filter.is !== 'or') return filter;
  const [left, right] = filter.of;
  return { ...filter, of: [withRoleNames(left, attribute), withRoleNames(right, attribute)] };
}

function chosen(values: readonly Values[], step: Step & { filter: Filter }): Values[] {
  const { op, attribute, sub, value, path } = step;
  const filter = withRoleNames(step.filter, attribute);
  const inner = subAttributeOf(attribute);
  const isChosen = (one: Values) => matchesFilter(filter, one, inner);
  const none = !values.some(isChosen);
  if (op === 'remove') {
    if (!sub) return values.filter((one) => !isChosen(one));
    return values.map((one) => (isChosen(one) ? withPart(one, sub, undefined) : one));
  }
  const change = (one: Values): Values => {
    if (sub) return withPart(one, sub, readValue(sub, value));
    const [given] = (readValue({ ...attribute, multiValued: true }, value) ?? []) as Values[];
    return { ...one, ...given };
  };
  if (!none)
    return demoted(
      values,
      values.map((one) => (isChosen(one) ? change(one) : one)),
    );
  // Entra and other clients replace a typed value that doesn't exist yet: the filter then gives the new value's type.
  const said = saidBy(filter, attribute);
  if (!said || (op === 'replace' && !sub)) throw scimProblem('noTarget', `${path} chooses nothing`);
  return demoted(values, [...values, change(said)]);
}

/** A value that becomes primary replaces the former primary one (RFC 7644 §3.5.2). */
function demoted(before: readonly Values[], after: readonly Values[]): Values[] {
  const fresh = after.findIndex((one, i) => one.primary === true && before[i]?.primary !== true);
  return after.map((one, i) => (fresh >= 0 && i !== fresh && one.primary === true ? { ...one, primary: false } : one));
}

/** The value that a filter of equalities describes; undefined: the filter has another form. */
function saidBy(filter: Filter, attribute: Attribute): Values | undefined {
  if (filter.is === 'and') {
    const [left, right] = filter.of.map((part) => saidBy(part, attribute));
    return left && right && { ...left, ...right };
  }
  if (filter.is !== 'compare' || filter.op !== 'eq') return undefined;
  const sub = subAttributeOf(attribute)(filter.path)?.attribute;
  return sub && { [sub.name]: readValue(sub, filter.value) };
}
