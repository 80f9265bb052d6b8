// The field for a code of digits that the user received, or reads on a device.
import { type Faults, invalidState, noteAt } from './field-errors.ts';
import { type Html, html } from './html.ts';
import { text } from './texts.ts';

/** @param required false if the page has buttons that work without a code */
export const codeField = ({ faults, required }: { faults: Faults; required: boolean }): Html => html`<div class="field">
<label for="code">${text('otp.code')}</label>
<input class="code" type="text" id="code" name="code" inputmode="numeric" autocomplete="one-time-code" maxlength="12"
${required && html` required`} autofocus${faults.has('code') && invalidState('code')}>
${noteAt(faults, 'code')}
</div>`;
