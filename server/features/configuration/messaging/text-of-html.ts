// Converts an HTML message to text, for mail programs that show no HTML. Pure; it reads the message once, so that no
// template makes it slow.

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: ' ' };
/** Elements whose content readers don't see. */
const UNSEEN = new Set(['style', 'script', 'head', 'title']);
const ENDS_LINE = /^(?:br|\/(?:p|div|h[1-6]|li|tr|table|ul|ol))$/;
const NAME = /^<(\/?[a-z][^\s/>]*)/i;
const HREF = /\shref\s*=\s*"([^"]*)"/i;

/** The address of a link follows the link's text. */
export function textOfHtml(html: string): string {
  const pieces: string[] = [];
  const last = html.lastIndexOf('>');
  /** Elements without an end tag in the rest of the text. */
  const unended = new Set<string>();
  let link: { href: string; from: number } | undefined;
  let at = 0;
  while (at < html.length) {
    const start = html.indexOf('<', at);
    if (start < 0 || start > last) break;
    pieces.push(oneLine(html.slice(at, start)));
    const end = html.indexOf('>', start) + 1;
    const tag = html.slice(start, end);
    at = end;
    const name = NAME.exec(tag)?.[1]?.toLowerCase() ?? '';
    if (UNSEEN.has(name)) {
      const past = unended.has(name) ? undefined : endOf(name, html, end);
      if (past === undefined)
        unended.add(name); // its contents are text
      else at = past;
    } else if (ENDS_LINE.test(name)) pieces.push('\n');
    else if (name === 'a') {
      const href = HREF.exec(tag)?.[1];
      link = href === undefined ? undefined : { href, from: pieces.length };
    } else if (name === '/a' && link) {
      const words = pieces.slice(link.from).join('').trim();
      if (words !== link.href) pieces.push(` (${link.href})`);
      link = undefined;
    }
  }
  pieces.push(oneLine(html.slice(at)));
  return pieces
    .join('')
    .replaceAll(/&(amp|lt|gt|quot|#39|nbsp);/g, (whole, name: string) => entities[name] ?? whole)
    .replaceAll(/(?<![ \t])[ \t]*\n[ \t]*/g, '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ');

function endOf(name: string, html: string, from: number): number | undefined {
  const end = new RegExp(`</${name}\\s*>`, 'gi');
  end.lastIndex = from;
  return end.test(html) ? end.lastIndex : undefined;
}
