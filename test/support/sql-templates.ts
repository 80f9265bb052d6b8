// Owns: finding the templates of SQL in a source file, each with its tag and without what stands in its `${…}`.
// Does not own: what they should say (guards).
// Implements: guards that read SQL in the sources.

export interface Template {
  /** `sql`, `fragment`, `statement` …, or what stands before an untagged one. */
  tag: string;
  line: number;
  /** Each `${…}` is `$0`. */
  text: string;
}

const REGEX_BEFORE = /(?:^|[(,=:[!&|?{};\n]|\breturn|=>)\s*$/;

/** Also those within another's `${…}`. */
export function templatesIn(source: string): Template[] {
  const found: Template[] = [];
  let at = 0;

  function quoted(quote: string): void {
    for (at += 1; at < source.length && source[at] !== quote; at += 1) if (source[at] === '\\') at += 1;
    at += 1;
  }
  function regex(): void {
    let inClass = false;
    for (at += 1; at < source.length && (source[at] !== '/' || inClass); at += 1) {
      if (source[at] === '\\') at += 1;
      else if (source[at] === '[') inClass = true;
      else if (source[at] === ']') inClass = false;
    }
    at += 1;
  }
  function to(end: string): void {
    const next = source.indexOf(end, at);
    at = next < 0 ? source.length : next + end.length;
  }
  /** To the brace that closes a `${`, or to the end of the file. */
  function code(): void {
    for (let depth = 0; at < source.length; ) {
      const char = source[at] ?? '';
      if (char === "'" || char === '"') quoted(char);
      else if (source.startsWith('//', at)) to('\n');
      else if (source.startsWith('/*', at)) to('*/');
      else if (char === '/' && REGEX_BEFORE.test(source.slice(Math.max(0, at - 30), at))) regex();
      else if (char === '`') template();
      else {
        at += 1;
        if (char === '{') depth += 1;
        if (char === '}' && depth === 0) return;
        if (char === '}') depth -= 1;
      }
    }
  }
  function template(): void {
    const start = at;
    let text = '';
    for (at += 1; at < source.length && source[at] !== '`'; ) {
      if (source.startsWith('${', at)) {
        at += 2;
        code();
        text += '$0';
      } else {
        const length = source[at] === '\\' ? 2 : 1;
        text += source.slice(at, at + length);
        at += length;
      }
    }
    at += 1;
    found.push({ tag: tagBefore(source.slice(0, start)), line: source.slice(0, start).split('\n').length, text });
  }
  code();
  return found;
}

/** The name before a template, also where the type of its rows stands between. */
function tagBefore(text: string): string {
  let end = text.length;
  if (text.endsWith('>')) {
    let depth = 0;
    for (end -= 1; end >= 0; end -= 1) {
      if (text[end] === '>' && text[end - 1] !== '=') depth += 1;
      if (text[end] === '<') depth -= 1;
      if (depth === 0) break;
    }
  }
  return /([\w.]+)$/.exec(text.slice(0, end))?.[1] ?? '';
}
