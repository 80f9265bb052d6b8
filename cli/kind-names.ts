// Prints the kinds that `realmctl get` knows into its documentation. Pure.
import { kinds } from './kind-table.ts';

const LIST = /^Kinds: [^;]+;/m;
const WIDTH = 125;

export function kindsNamed(documentation: string): string {
  if (!LIST.test(documentation)) throw new Error('docs/cli.md lacks the list that begins with Kinds:');
  const named = kinds.map(({ plural, of }) => `\`${plural}\`${of ? ` (of a ${of}: \`get ${plural} NAME\`)` : ''}`);
  const lines = ['Kinds:'];
  for (const word of named.join(', ').split(' ')) {
    const longer = `${lines.at(-1)} ${word}`;
    if (longer.length <= WIDTH) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return documentation.replace(LIST, `${lines.join('\n')};`);
}
