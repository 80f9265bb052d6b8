// An address as a small QR code: each run of dark fields is one stroke.
import { encode } from 'uqr';
import { type Html, html } from './html.ts';
import { text, textHtml } from './texts.ts';

/** Drawn only from numbers; no text of the address is in the markup. */
function qrPicture(address: string, label: string): Html {
  const { data, size } = encode(address, { border: 0 });
  const strokes = data.flatMap((row, y) => {
    const runs: string[] = [];
    for (let x = 0; x < size; x += 1) {
      const start = x;
      while (row[x]) x += 1;
      if (x > start) runs.push(`M${start} ${y}.5h${x - start}`);
    }
    return runs;
  });
  return html`<div class="qr" role="img" aria-label="${label}"><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"><path stroke="#000" d="${strokes.join('')}"/></svg></div>`;
}

/** The code and a link to the same address. On a phone the style sheet puts the link first, because the app is there. */
export const codeForApp = (address: string, label: string): Html => html`<div class="scan">
${qrPicture(address, label)}
<p class="hint">${textHtml('otp.appHere', { link: html`<a href="${address}">${text('otp.openInApp')}</a>` })}</p>
</div>`;
