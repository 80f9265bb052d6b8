// An export as YAML, written section by section while it arrives: a realm of a million users never fills the memory. It
// relies on the export's documented form, an element a line; any other form is refused. Specification 2.10.
import { Refused } from './faults.ts';
import { yamlText } from './manifest-text.ts';

/** Lines of text of any chunks. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

const indented = (text: string): string => text.replace(/\n$/, '').replaceAll(/\n(?=.)/g, '\n  ');

export async function* documentYaml(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let inList = false;
  for await (const line of linesOf(chunks)) {
    if (line === '{' || line === '}') continue;
    // A comma stands behind an element, or in front of it.
    const text = line.replace(/^,|,$/g, '');
    if (inList) {
      if (text === ']') inList = false;
      else yield `  ${indented(yamlText([parsed(text)]))}\n`;
      continue;
    }
    const [, key, value = ''] = /^("(?:[^"\\]|\\.)*"):(.*)$/.exec(text) ?? [];
    if (key === undefined) throw strange();
    if (value === '[') {
      inList = true;
      yield `${JSON.parse(key)}:\n`;
    } else yield yamlText({ [JSON.parse(key)]: parsed(value) });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw strange();
  }
}

const strange = () =>
  new Refused('this server writes exports in another form than this realmctl reads', 'Use --format json.');
