// The fields by which users fill in their profile, made from the realm's declaration, and the values of a submitted
// form. domain/user-profile.ts checks the values.

import { PHONE_CONFIRMED, withoutOldConfirmation } from '../contract/phone.ts';
import type { Words } from '../contract/phrases.ts';
import type { ProfileAttribute, UserProfile } from '../contract/user-profile.ts';
import { type Faults, invalidState, noteAt } from './field-errors.ts';
import { type Html, html, isolated } from './html.ts';
import { plainText, text, translated } from './texts.ts';

const MOST = 255;
const MOST_OF_MANY = 4000;
type Names = Readonly<Record<string, readonly string[]>>;

/** A field that the user fills in. */
export interface ProfileInput {
  /** The path in faults: `firstName`, `attributes.department`. */
  path: string;
  /** The name in forms. */
  field: string;
  label: string;
  required: boolean;
  type: ProfileAttribute['type'];
  multivalued: boolean;
  options: readonly string[];
  autocomplete?: string;
}

const names = [
  { name: 'firstName', label: 'profile.firstName', autocomplete: 'given-name' },
  { name: 'lastName', label: 'profile.lastName', autocomplete: 'family-name' },
] as const;
const own: readonly string[] = ['username', 'email', ...names.map(({ name }) => name)];
const wellKnown: Readonly<Record<string, string>> = { phone_number: 'tel', birthdate: 'bday', locale: 'language' };

/** The fields of the profile that users may see and change, in the realm's order; names come first if the profile does not list them. */
export function profileInputs({ attributes }: UserProfile): ProfileInput[] {
  const declared = new Map(attributes.map((attribute) => [attribute.name, attribute]));
  const ofNames = names.flatMap(({ name, label, autocomplete }): ProfileInput[] => {
    const attribute = declared.get(name);
    if (attribute && !isTheirs(attribute)) return [];
    const plain = { type: 'string', multivalued: false, options: attribute?.validation.options ?? [] } as const;
    const required = attribute?.required.includes('user') ?? false;
    return [
      { path: name, field: name, label: attribute?.displayName ?? plainText(label), required, autocomplete, ...plain },
    ];
  });
  const others = attributes
    .filter((attribute) => !own.includes(attribute.name) && isTheirs(attribute))
    .map(({ name, displayName, required, type, multivalued, validation: { options } }): ProfileInput => {
      const autocomplete = wellKnown[name];
      return {
        path: `attributes.${name}`,
        field: `attribute.${name}`,
        label: displayName ?? name,
        required: required.includes('user'),
        type,
        multivalued,
        options: options ?? [],
        ...(autocomplete !== undefined && { autocomplete }),
      };
    });
  return [...ofNames, ...others];
}
/** The attributes that users see of themselves, whether or not they may change them. */
export const shownAttributes = ({ attributes }: UserProfile): { name: string; label: string }[] =>
  attributes
    .filter(({ name, view }) => !own.includes(name) && view.includes('user'))
    .map(({ name, displayName }) => ({ name, label: displayName ?? name }));
/** No user may set whether their number is confirmed, even if the profile lets them edit the attribute. */
const isTheirs = ({ name, view, edit }: ProfileAttribute) =>
  name !== PHONE_CONFIRMED && view.includes('user') && edit.includes('user');

/** Values by the inputs' fields. */
export function valuesOf(
  inputs: readonly ProfileInput[],
  person: { firstName: string | null; lastName: string | null; attributes: Names },
): Names {
  const { attributes } = person;
  return Object.fromEntries(
    inputs.map(({ field, path }) => {
      if (path === 'firstName' || path === 'lastName') return [field, person[path] ? [person[path]] : []];
      const name = path.slice('attributes.'.length);
      return [field, Object.hasOwn(attributes, name) ? (attributes[name] ?? []) : []];
    }),
  );
}

/** The values of a form; fields that it doesn't contain are left out. */
export function valuesIn(inputs: readonly ProfileInput[], form: Readonly<Record<string, string>>): Names {
  return Object.fromEntries(
    inputs.flatMap(({ field, multivalued, options }) => {
      const sent = form[field];
      if (sent === undefined) return [];
      if (multivalued && options.length > 0)
        return [[field, options.filter((option) => form[optionField(field, option)] !== undefined)]];
      const values = multivalued ? sent.split(/\r?\n/) : [sent];
      return [[field, values.map((value) => value.trim()).filter((value) => value !== '')]];
    }),
  );
}
const optionField = (field: string, option: string): string => `${field}=${option}`;

/** The user with the values of {@link valuesIn}; a new phone number is not confirmed. */
export function withValues<T extends { firstName: string | null; lastName: string | null; attributes: Names }>(
  inputs: readonly ProfileInput[],
  values: Names,
  person: T,
): T {
  const said = inputs.filter(({ field }) => Object.hasOwn(values, field));
  const nameOf = (path: 'firstName' | 'lastName') => {
    const input = said.find((one) => one.path === path);
    return input ? (values[input.field]?.[0] ?? null) : person[path];
  };
  const attributes = said
    .filter(({ path }) => path.startsWith('attributes.'))
    .map(({ path, field }) => [path.slice('attributes.'.length), values[field] ?? []] as const);
  const kept = Object.entries(person.attributes).filter(([name]) => !attributes.some(([one]) => one === name));
  const filled = attributes.filter(([, list]) => list.length > 0);
  return {
    ...person,
    firstName: nameOf('firstName'),
    lastName: nameOf('lastName'),
    attributes: withoutOldConfirmation(person.attributes, Object.fromEntries([...kept, ...filled]), {}),
  };
}

/** A sentence for the user: the field's label, and what is wrong with it. */
export const faultSentence = ({ label, fault }: { label: string; fault: Words }): string =>
  text('profile.fault', { label, fault: translated(fault) });

/** The field of the username. @param state further attributes of the field */
export const usernameField = (
  value: string | undefined,
  state: Html | false,
  faults: Faults = new Map(),
): Html => html`<div class="field">
<label for="username">${text('account.username')}</label>
<input type="text" id="username" name="username" value="${value}" maxlength="${MOST}" autocomplete="username"
 autocapitalize="none" autocorrect="off" spellcheck="false" required${state}>
${noteAt(faults, 'username')}
</div>`;

/** @param faults by path; @param focus the path whose field has the focus */
export const profileFields = (
  inputs: readonly ProfileInput[],
  values: Names,
  { faults = new Map(), focus }: { faults?: Faults; focus?: string | undefined } = {},
): Html => html`${inputs.map((input) => fieldOf(input, values[input.field] ?? [], { faults, focus }))}`;

function fieldOf(
  input: ProfileInput,
  values: readonly string[],
  { faults, focus }: { faults: Faults; focus: string | undefined },
): Html {
  const { path, field, label, required, multivalued, options, type } = input;
  const state = html`${faults.has(path) && invalidState(path)}${path === focus && html` autofocus`}`;
  const note = noteAt(faults, path);
  const optional =
    !required && path.startsWith('attributes.') && html` <span class="soft">${text('otp.optional')}</span>`;
  const labelled = (control: Html) =>
    html`<div class="field"><label for="${field}">${isolated(label)}${optional}</label>${control}${note}</div>`;
  if (multivalued && options.length > 0)
    return html`<fieldset class="field"${state}><legend>${isolated(label)}${optional}</legend><input type="hidden" name="${field}" value="">
${options.map((option, i) => {
  const id = `${field}-${i}`;
  return html`<div class="check"><input type="checkbox" id="${id}" name="${optionField(field, option)}" value="on"${values.includes(option) && html` checked`}><label for="${id}">${isolated(option)}</label></div>`;
})}${note}</fieldset>`;
  if (multivalued)
    return labelled(html`<textarea id="${field}" name="${field}" rows="3" maxlength="${MOST_OF_MANY}"${state}>
${values.join('\n')}</textarea><p class="hint">${text('profile.oneALine')}</p>`);
  const [value = ''] = values;
  const choices = type === 'boolean' ? ['true', 'false'] : options;
  if (choices.length > 0) {
    const named = (choice: string) =>
      type !== 'boolean' ? choice : choice === 'true' ? text('profile.yes') : text('profile.no');
    // A value from before the options stays until the user chooses another one.
    const all = value === '' || choices.includes(value) ? choices : [value, ...choices];
    return labelled(html`<select id="${field}" name="${field}"${state}><option value=""></option>
${all.map((choice) => html`<option value="${choice}" dir="auto"${choice === value && html` selected`}>${named(choice)}</option>`)}</select>`);
  }
  const kind = { date: 'date', email: 'email', url: 'url', number: 'text', string: 'text', boolean: 'text' }[type];
  return labelled(
    html`<input type="${kind}" id="${field}" name="${field}" value="${value}" maxlength="${path.startsWith('attributes.') ? MOST_OF_MANY : MOST}"${
      input.autocomplete !== undefined && html` autocomplete="${input.autocomplete}"`
    }${type === 'number' && html` inputmode="decimal"`}${required && html` required`}${state}>`,
  );
}
