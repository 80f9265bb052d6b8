// Owns: reading the Dockerfile as a list of instructions per stage.
// Does not own: what they should say (dockerfile.unit.test.ts), or running their steps (steps.long.test.ts).
// Implements: what can be known of the image without an engine.
import { readFileSync } from 'node:fs';
import path from 'node:path';

export const root = path.resolve(import.meta.dirname, '../..');

export interface Instruction {
  name: string;
  text: string;
}

const all: Instruction[] = readFileSync(path.join(root, 'Dockerfile'), 'utf8')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((line) => {
    const [, name = '', text = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
    return { name, text };
  });

export const instructions = (name: string): string[] =>
  all.filter((instruction) => instruction.name === name).map(({ text }) => text);

/** The instructions after each FROM. */
export function stages(): Instruction[][] {
  const found: Instruction[][] = [];
  for (const instruction of all) {
    if (instruction.name === 'FROM') found.push([]);
    else found.at(-1)?.push(instruction);
  }
  return found;
}

/** What comes from this repository: the sources of each COPY that isn't from another stage. */
export const copied = (): string[] =>
  instructions('COPY')
    .filter((text) => !text.includes('--from='))
    .flatMap((text) =>
      text
        .split(/\s+/)
        .filter((word) => !word.startsWith('--'))
        .slice(0, -1),
    );
