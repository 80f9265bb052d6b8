// An address as a small QR code: each run of dark fields is one stroke.
import { encode } from 'uqr';
import { type Html, html } from './html.ts';

/** Drawn only from numbers; no text of the address is in the markup. */
export function qrPicture(address: string, label: string): Html {
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
