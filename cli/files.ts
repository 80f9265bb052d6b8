// Owns: reading the arguments of `-f`: files, folders, stdin; YAML with several documents, JSON, lists; and the line of each object.
// Does not own: the meaning of an object (declared.ts).
// Implements: docs/cli.md: files, folders, stdin, kustomize output.
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { isMap, isSeq, LineCounter, type Node, parseAllDocuments } from 'yaml';
import { errorWords } from '../server/contract/error-words.ts';
import type { Io } from './command.ts';
import { Refused } from './faults.ts';
import { utf8Text } from './text.ts';

export type Path = readonly (string | number)[];

/** A fault in a file, found offline or before any request. */
export interface FileFault {
  file: string;
  line: number | undefined;
  /** The document's index in the file, from 1. */
  document: number | undefined;
  /** `Realm identity/acme`, if that is known. */
  object: string | undefined;
  /** `spec.clients[0].clientId` */
  path: string | undefined;
  message: string;
}

/** One object of a file. */
export interface Item {
  file: string;
  document: number;
  value: unknown;
  /** The line of a field, or of the nearest enclosing field. */
  lineOf(at: Path): number | undefined;
}

export interface Reading {
  items: Item[];
  faults: FileFault[];
}

const STDIN = '-';
/** Lines of larger files aren't counted: the parser that counts them takes ten times as long. */
const LINES_UP_TO = 4_000_000;

export async function readFiles(
  io: Pick<Io, 'stdin'>,
  names: readonly string[],
  { recursive }: { recursive: boolean },
): Promise<Reading> {
  const reading: Reading = { items: [], faults: [] };
  const files = (await Promise.all(names.map((name) => filesOf(name, recursive)))).flat();
  if (files.filter((file) => file === STDIN).length > 1) throw new Refused('stdin can be read once');
  for (const file of new Set(files)) {
    const shown = file === STDIN ? 'stdin' : file;
    const text = utf8Text(file === STDIN ? await allOf(io.stdin) : await readFile(file), shown);
    if (file.endsWith('.json') && text.length > LINES_UP_TO) takeJson(shown, text, reading);
    else takeYaml(shown, text, reading);
  }
  return reading;
}

async function allOf(stdin: Io['stdin']): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** A folder's files, sorted by name. Links to folders aren't followed, so there are no cycles. */
async function filesOf(name: string, recursive: boolean): Promise<string[]> {
  if (name === STDIN) return [STDIN];
  if (/^https?:/.test(name)) throw new Refused(`${name} is not a file`, 'Fetch it first: curl … | realmctl … -f -');
  const found = await stat(name).catch(() => {
    throw new Refused(`there is no file or folder ${name}`);
  });
  if (!found.isDirectory()) return [name];
  const entries = await readdir(name, { withFileTypes: true });
  const files: string[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.name.startsWith('.')) continue;
    const inside = path.join(name, entry.name);
    if (entry.isDirectory() && recursive) files.push(...(await filesOf(inside, true)));
    else if (!entry.isDirectory() && isManifest(entry.name) && (await stat(inside)).isFile()) files.push(inside);
  }
  return files;
}

/** Whether the file is a manifest: kustomize's and Helm's own files aren't. */
const isManifest = (name: string): boolean =>
  /\.(ya?ml|json)$/i.test(name) && !/^(kustomization\.ya?ml|Chart\.yaml|values[^/]*\.ya?ml)$/.test(name);

function takeJson(file: string, text: string, reading: Reading): void {
  try {
    take({ file, document: 1, value: JSON.parse(text), lineOf: () => undefined }, reading);
  } catch (error) {
    const message = errorWords(error);
    reading.faults.push({ file, line: undefined, document: 1, object: undefined, path: undefined, message });
  }
}

function takeYaml(file: string, text: string, reading: Reading): void {
  const lineCounter = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter, merge: true });
  for (const [index, parsed] of documents.entries()) {
    const document = index + 1;
    const lineAt = (offset: number) => lineCounter.linePos(offset).line;
    const fault = (message: string, offset: number | undefined) =>
      reading.faults.push({
        file,
        line: offset === undefined ? undefined : lineAt(offset),
        document,
        object: undefined,
        path: undefined,
        message,
      });
    for (const error of parsed.errors) fault(firstLine(error.message), error.pos[0]);
    if (parsed.errors.length > 0 || parsed.contents === null) continue;
    const { contents } = parsed;
    try {
      const value: unknown = parsed.toJS();
      if (value === null) continue;
      const lineOf = (at: Path) => {
        const offset = nodeAt(contents, at)?.range?.[0];
        return offset === undefined ? undefined : lineAt(offset);
      };
      take({ file, document, value, lineOf }, reading);
    } catch (error) {
      fault(errorWords(error), contents.range?.[0]);
    }
  }
}

/** The parser's message without the code excerpt and the position, which are reported separately. */
const firstLine = (message: string) => message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? message;

function nodeAt(root: Node, at: Path): Node | undefined {
  let node: Node = root;
  for (const step of at) {
    const next = isMap(node) || isSeq(node) ? node.get(step, true) : undefined;
    if (!next) return node;
    node = next;
  }
  return node;
}

/** Adds an object. `List`, and every other kind with `items`, is replaced by its items. */
function take(item: Item, reading: Reading): void {
  const { value } = item;
  if (!isList(value)) {
    reading.items.push(item);
    return;
  }
  for (const [index, inner] of value.items.entries()) {
    take({ ...item, value: inner, lineOf: (path) => item.lineOf(['items', index, ...path]) }, reading);
  }
}

const isList = (value: unknown): value is { items: unknown[] } =>
  typeof value === 'object' &&
  value !== null &&
  'kind' in value &&
  typeof value.kind === 'string' &&
  value.kind.endsWith('List') &&
  'apiVersion' in value &&
  'items' in value &&
  Array.isArray(value.items);
