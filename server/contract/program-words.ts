// What a program's help calls the program: a built one is a file beside others, as in the image, where there is no npm.

/** @param started `process.argv[1]` */
export function helpOf(help: string, started = ''): string {
  const file = started.split(/[/\\]/).at(-1) ?? '';
  return file.endsWith('.js')
    ? help.replaceAll(/npm run [\w-]+( \[| )?(?:-- )?/g, (_, then = '') => `node ${file}${then}`)
    : help;
}
