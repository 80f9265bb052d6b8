// Shows the errors of a form: each below its field, which screen readers connect by its attributes; others above the form.
import { type Html, html } from './html.ts';

export interface FieldFault {
  field: string;
  message: string;
}
/** Messages by field. */
export type Faults = ReadonlyMap<string, string>;

export const faultsOf = (first: FieldFault | undefined, others: readonly FieldFault[] = []): Faults =>
  new Map((first ? [...others, first] : others).map(({ field, message }) => [field, message]));

const idOf = (field: string): string => `${field}-error`;

export const errorNote = (field: string, message: string): Html =>
  html`<div class="error" role="alert" id="${idOf(field)}"><p>${message}</p></div>`;

/** Attributes of the field that the note belongs to. */
export const invalidState = (field: string): Html => html` aria-invalid="true" aria-describedby="${idOf(field)}"`;

/** The note of a field, to put below it; nothing if the field has no error. */
export function noteAt(faults: Faults, field: string): Html | false {
  const message = faults.get(field);
  return message !== undefined && errorNote(field, message);
}

/** The note above a form, unless the form has it at its field. */
export const noteAbove = (fault: FieldFault | undefined, form: Html): Html | false =>
  fault !== undefined &&
  !form.text.includes(html` id="${idOf(fault.field)}"`.text) &&
  errorNote(fault.field, fault.message);
