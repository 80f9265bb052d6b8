// The program's name in its help: npm's in the source tree, the built file's in the image, which has no npm.

/** @param started `process.argv[1]` */
export function helpOf(help: string, started = ''): string {
  const file = started.split(/[/\\]/).at(-1) ?? '';
  return file.endsWith('.js')
    ? help.replaceAll(/npm run [\w-]+( \[| )?(?:-- )?/g, (_, then = '') => `node ${file}${then}`)
    : help;
}
