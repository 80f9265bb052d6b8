// Shows a field's error on a page: in a note, and by attributes of the field for screen readers.
import { type Html, html } from './html.ts';

const idOf = (field: string): string => `${field}-error`;

export const errorNote = (field: string, message: string): Html =>
  html`<div class="error" role="alert" id="${idOf(field)}"><p>${message}</p></div>`;

/** Attributes of the field that the note belongs to. */
export const invalidState = (field: string): Html => html` aria-invalid="true" aria-describedby="${idOf(field)}"`;
