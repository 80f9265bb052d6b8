// Owns: the commands of the README's "Deploy", as words.
// Does not own: running them (release.ts).
import { readFileSync } from 'node:fs';
import path from 'node:path';

const readme = readFileSync(path.resolve(import.meta.dirname, '../../README.md'), 'utf8');

/** @throws Error where the README has no such part */
export function deployCommands(text: string = readme): string[][] {
  const [, block] = /^## Deploy\n+```sh\n([\s\S]*?)```/m.exec(text) ?? [];
  if (block === undefined) throw new Error('the README says no more how to deploy');
  return block
    .replaceAll(/\\\n\s*/g, '')
    .trim()
    .split('\n')
    .map((line) => line.split(/\s+/));
}

/** What the command that begins with these words goes on with. */
export function deployWords(...begins: string[]): string[] {
  const found = deployCommands().find((words) => begins.every((word, i) => words[i] === word));
  if (!found) throw new Error(`the README has no more ${begins.join(' ')}`);
  return found.slice(begins.length);
}

/** The image that it builds, by name and tag. */
export function deployedImage(): { name: string; tag: string } {
  const words = deployWords('docker', 'buildx', 'build');
  const [name = '', tag = ''] = words[words.indexOf('-t') + 1]?.split(/:(?=[^/]*$)/) ?? [];
  return { name, tag };
}
