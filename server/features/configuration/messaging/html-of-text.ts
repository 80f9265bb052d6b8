// The HTML version of a text message, which goes beside the text: the realm's brand, a button for the link, and codes
// that stand out. Pure. Mail programs read no style sheets, so each element has its own styles.
import { parseHex, textOn, toHex } from '../../../http/colours.ts';
import { Html, html } from '../../../http/html.ts';

export interface MailBrand {
  displayName: string;
  logoUrl: string | null;
  primaryColor: string | null;
}

const DEFAULT_PRIMARY = '#2f5bd7';
const INDENTED = /^ {4}/;
const FONT = 'font-family:system-ui,-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif';

const lines = (block: string): Html =>
  new Html(
    block
      .split('\n')
      .map((line) => html`${line.trim()}`.text)
      .join('<br>'),
  );

/**
 * Paragraphs are separated by empty lines; an indented one is a code or a list of facts.
 * @param link the message's link: where it is a paragraph of its own, it becomes a button with the text `button`
 */
export function htmlOfText(
  text: string,
  {
    brand: { displayName, logoUrl, primaryColor },
    link,
    button,
    language,
  }: { brand: MailBrand; link: string | undefined; button: string; language: string },
): string {
  const primary = parseHex(primaryColor ?? DEFAULT_PRIMARY);
  const [back, fore] = [toHex(primary), toHex(textOn(primary))];
  const paragraph = (block: string): Html => {
    if (block.trim() === link)
      return html`<p style="margin:24px 0 8px"><a href="${link}" style="display:inline-block;padding:12px 24px;border-radius:8px;background:${back};color:${fore};font-weight:600;text-decoration:none">${button}</a></p>
<p style="margin:0 0 24px;font-size:13px;color:#565f72;word-break:break-all">${link}</p>`;
    if (block.split('\n').every((line) => INDENTED.test(line)))
      return html`<p style="margin:16px 0;padding:12px 16px;border-radius:8px;background:#f3f6fb;font-size:20px;font-weight:600">${lines(block)}</p>`;
    return html`<p style="margin:0 0 16px">${lines(block)}</p>`;
  };
  const mark = logoUrl
    ? html`<img src="${logoUrl}" alt="${displayName}" height="40" style="max-height:40px;max-width:100%;font-size:17px;font-weight:600">`
    : html`<bdi style="font-size:17px;font-weight:600">${displayName}</bdi>`;
  return html`<!doctype html>
<html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"></head>
<body style="margin:0;padding:0;background:#eef1f6">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="background:#eef1f6"><tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;background:#ffffff;border-radius:12px;border-top:4px solid ${back}"><tr><td dir="auto" style="padding:28px 32px;${FONT};font-size:16px;line-height:1.5;color:#171b22">
<div style="margin:0 0 24px">${mark}</div>
${text
  .replace(/^\n+|\s+$/g, '')
  .split(/\n{2,}/)
  .map(paragraph)}
</td></tr></table>
</td></tr></table>
</body></html>
`.text;
}
