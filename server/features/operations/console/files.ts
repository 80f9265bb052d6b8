// Where the console's files are: beside the bundles of a built server, or built from the source at the first request.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** Beside the bundles; `npm run build` writes it. */
const built = path.join(import.meta.dirname, 'console', 'index.html');

/** Whether the files are there at once, as those of a built server are. */
export const isConsoleBuilt = (): boolean => existsSync(built);

/** @returns the folder with index.html, assets/ and manifest.json */
export async function consoleFolder(): Promise<string> {
  if (isConsoleBuilt()) return path.dirname(built);
  // A development dependency builds it. The address is computed, so that no bundle holds the build.
  const builder = path.resolve(import.meta.dirname, '../../../../console/build.ts');
  const { builtConsole }: { builtConsole(): Promise<string> } = await import(pathToFileURL(builder).href);
  return builtConsole();
}
