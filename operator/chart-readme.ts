// Generates texts from the chart and the CRDs: the table of values in the chart's README, from values.yaml and its
// comments, and the CRDs of the plain manifest. Pure. Design "Generated things".
import { isMap, isScalar, type Node, type Pair, parseDocument, type YAMLMap } from 'yaml';

const BEGIN = '<!-- values: npm run generate -->';
const END = '<!-- /values -->';

export const CRDS = '# The custom resource definitions: npm run generate';

/** `deploy/install.yaml` with these CRDs. Helm renders the rest, and a test of the chart compares it. */
export const withCrds = (manifest: string, crds: Iterable<string>): string =>
  [(manifest.split(CRDS, 1)[0] ?? '') + CRDS, ...crds].join('\n---\n');

/** @throws Error if the README has no place for the table */
export function chartReadme(readme: string, values: string): string {
  const [before, rest] = readme.split(BEGIN, 2);
  const after = rest?.split(END, 2)[1];
  const { contents } = parseDocument(values);
  if (before === undefined || after === undefined || !isMap(contents))
    throw new Error(`the README lacks ${BEGIN}, ${END}`);
  const rows = [...rowsOf(contents, '')].map(
    (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`,
  );
  return `${before}${BEGIN}\n${['| Value | Default | |', '|---|---|---|', ...rows].join('\n')}\n${END}${after}`;
}

function* rowsOf(map: YAMLMap, path: string): Generator<[string, string, string]> {
  for (const [at, pair] of map.items.entries()) {
    const { key, value } = pair as Pair<Node, Node | null>;
    const name = path + String(isScalar(key) ? key.value : key);
    // the parser assigns a comment above a map's first key to the map
    const above = at === 0 && path !== '' ? map.commentBefore : key.commentBefore;
    const words = [above, value?.comment].map(wordsOf).filter(Boolean).join('. ');
    if (isMap(value) && !value.flow) {
      if (words !== '') yield [`\`${name}\``, '', words];
      yield* rowsOf(value, `${name}.`);
    } else yield [`\`${name}\``, `\`${JSON.stringify(value) ?? ''}\``, words];
  }
}

/** A value's own comment, without section headings and text before an empty line. */
const wordsOf = (comment: string | null | undefined): string => {
  const parts = (comment ?? '').split(/\n\s*\n|^.*──.*$/m);
  const lines = (parts.at(-1) ?? '').split('\n').map((line) => line.trim());
  return lines.filter(Boolean).join(' ').replace(/\.$/, '');
};
