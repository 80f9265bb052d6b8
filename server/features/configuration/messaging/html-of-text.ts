// The HTML version of a text message, which goes beside the text: the realm's brand, a button for the link, and codes
// that stand out. Pure. Mail programs read no style sheets, so each element has its own styles. A mail is light also
// where the program is dark: most logos are made for a light background.
import { parseHex, textOn, toHex, visibleOn } from '../../../http/colours.ts';
import { Html, html, isolated } from '../../../http/html.ts';

export interface MailBrand {
  displayName: string;
  logoUrl: string | null;
  primaryColor: string | null;
}
export interface MailButton {
  link: string;
  label: string;
}

const DEFAULT_PRIMARY = '#2f5bd7';
const CARD = '#ffffff';
const INDENTED = /^ {4}/;
/** One line without a space: a code or a username. */
const SINGLE_WORD = /^\s*\S+\s*$/;
const FONT = 'font-family:system-ui,-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif';

const lines = (block: string, asHtml: (line: string) => Html): Html =>
  new Html(
    block
      .split('\n')
      .map((line) => asHtml(line.trim()).text)
      .join('<br>'),
  );

/**
 * The logo, with the realm's name as its text. Mail programs show the text where they load no picture: its letters are
 * small enough for three lines in the logo's height. Outlook knows no other limit than a height as an attribute.
 */
function markOf({ displayName, logoUrl }: MailBrand): Html {
  if (!logoUrl) return html`<bdi style="font-size:17px;font-weight:600">${displayName}</bdi>`;
  const logo = (height: Html) =>
    html`<img src="${logoUrl}" alt="${displayName}"${height} style="max-height:56px;max-width:100%;font-size:14px;line-height:1.3;font-weight:600">`;
  return html`<!--[if mso]>${logo(html` height="40"`)}<![endif]--><!--[if !mso]><!-->${logo(html``)}<!--<![endif]-->`;
}

/**
 * Paragraphs are separated by empty lines; an indented one is a code or a list of facts.
 * @param button for the message's link, where the link is a paragraph of its own
 */
export function htmlOfText(
  text: string,
  {
    brand,
    button,
    title,
    language,
    direction,
  }: {
    brand: MailBrand;
    button: MailButton | undefined;
    title: string;
    language: string;
    direction: 'ltr' | 'rtl';
  },
): string {
  const primary = parseHex(brand.primaryColor ?? DEFAULT_PRIMARY);
  const [back, fore] = [toHex(primary), toHex(textOn(primary))];
  const edge = toHex(visibleOn(primary, parseHex(CARD)));
  const paragraph = (block: string): Html => {
    if (button && block.trim() === button.link)
      return html`<table role="presentation" cellpadding="0" cellspacing="0" style="margin:24px 0 8px"><tr><td bgcolor="${back}" style="border-radius:8px;border:1px solid ${edge};background:${back}"><a href="${button.link}" style="display:inline-block;padding:12px 24px;color:${fore};font-weight:600;text-decoration:none">${button.label}</a></td></tr></table>
<p style="margin:0 0 24px;font-size:13px;color:#565f72;word-break:break-all"><bdi dir="ltr">${button.link}</bdi></p>`;
    if (block.split('\n').every((line) => INDENTED.test(line))) {
      const size = SINGLE_WORD.test(block) ? 'font-size:20px;font-weight:600;word-break:break-word' : 'font-weight:600';
      return html`<p style="margin:16px 0;padding:12px 16px;border-radius:8px;background:#f3f6fb;${size}">${lines(block, isolated)}</p>`;
    }
    return html`<p style="margin:0 0 16px">${lines(block, (line) => html`${line}`)}</p>`;
  };
  return html`<!doctype html>
<html lang="${language}" dir="${direction}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light only"><title>${title}</title></head>
<body style="margin:0;padding:0;background:#eef1f6">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="background:#eef1f6"><tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;background:${CARD};border-radius:12px;border-top:4px solid ${back}"><tr><td dir="auto" style="padding:28px 32px;text-align:start;${FONT};font-size:16px;line-height:1.5;color:#171b22;overflow-wrap:anywhere">
<div style="margin:0 0 24px">${markOf(brand)}</div>
${text
  .replace(/^\n+|\s+$/g, '')
  .split(/\n{2,}/)
  .map(paragraph)}
</td></tr></table>
</td></tr></table>
</body></html>
`.text;
}
