import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm;
/** The programs without their comments. What only a test calls is used by nobody. */
const source = new Map(
  ['server', 'operator', 'quickstart', 'cli'].flatMap((program) =>
    readdirSync(path.join(root, program), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file): [string, string] => [
        path.join(program, file),
        readFileSync(path.join(root, program, file), 'utf8').replace(COMMENT, ' '),
      ]),
  ),
);
const wordsIn = new Map([...source].map(([file, text]) => [file, new Set(text.match(/[A-Za-z_$][\w$]*/g))]));

interface Member {
  file: string;
  name: string;
}
/** The members of the object that a function `createX` returns, as the formatter lays them out. */
function membersIn(file: string, text: string): Member[] {
  return [...text.matchAll(/^export (?:const|function|async function) create[A-Z]\w*/gm)].flatMap(({ index }) => {
    const rest = text.slice(index);
    const end = rest.search(/\n\}\)?;?\n/);
    const body = end < 0 ? rest : rest.slice(0, end);
    const inline = /\n {2}return \{ ([^\n]*) \};/.exec(body)?.[1] ?? '';
    const [, block = ''] = /\n {2}return \{\n([\s\S]*)$/.exec(body) ?? [];
    const [, arrow = ''] = /=> \(\{\n([\s\S]*)$/.exec(body) ?? [];
    const names = [
      ...inline.matchAll(/(?:^|, )([a-z]\w*)/g),
      ...block.matchAll(/^ {4}(?:async )?(?:\* ?)?([a-z]\w*)(?=[(<:,])/gm),
      ...arrow.matchAll(/^ {2}(?:async )?(?:\* ?)?([a-z]\w*)(?=[(<:,])/gm),
    ];
    return names.map(([, name = '']) => ({ file, name }));
  });
}

/** Whether a file has `x.name`, where x is no module, `{ name } = x`, a parameter `{ name }`, or the type `Pick<X, 'name'>`. */
function uses(text: string, name: string): boolean {
  const modules = new Set([...text.matchAll(/import (?:type )?\* as (\w+)/g)].map(([, module]) => module));
  const accesses = text.matchAll(new RegExp(`(?:(\\w+)|[)\\]!])\\??\\.${name}\\b`, 'g'));
  if ([...accesses].some(([, of]) => of === undefined || !modules.has(of))) return true;
  const pattern = `\\{[^{}]*\\b${name}\\b[^{}]*\\}`;
  return (
    text.includes(`'${name}'`) ||
    new RegExp(`${pattern}(?:: [\\w<>., \\[\\]']+)? =[^=>]`).test(text) ||
    new RegExp(`${pattern}(?:: [^=(){}]*|: \\{[^{}]*\\}[^(){}]*)?[,)]`).test(text)
  );
}

test('every function that a service returns is called somewhere', () => {
  const unused = [...source]
    .flatMap(([file, text]) => membersIn(file, text))
    .filter(({ file, name }) => {
      const own = source.get(file)?.match(new RegExp(`\\b${name}\\(`, 'g')) ?? [];
      if (own.length > 1) return false;
      return ![...source].some(([other, text]) => other !== file && wordsIn.get(other)?.has(name) && uses(text, name));
    })
    .map(({ file, name }) => `${file}: ${name}`);
  expect(unused).toEqual([]);
});
