// Converts an export to YAML section by section while it arrives, so that a realm of a million users never fills the
// memory. It relies on the export's documented form, one element per line; any other form is refused. Specification
// 2.10.
import { Refused } from './faults.ts';
import { yamlText } from './manifest-text.ts';

/** The text lines of arriving chunks. */
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
    // The comma is after an element, or before it.
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
