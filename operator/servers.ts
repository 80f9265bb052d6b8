// The servers of one operator: the settings of each `--server`, and its connection. Each has credentials of its own:
// otherwise a server could use a token or secret at another server that accepts it too. Decisions "Custom resources".
import { readFileSync } from 'node:fs';
import { Agent } from 'undici';
import { z } from 'zod';
import { errorWords } from '../server/contract/error-words.ts';
import { SERVER_NAME } from '../server/contract/resources/custom-resource.ts';
import { type Connections, fetchBy } from './connections.ts';
import type { Credential } from './session.ts';

export interface ServerConfig {
  /** undefined: the default server, for resources that name none. */
  name: string | undefined;
  url: string;
  credential: Credential;
  /** A file with the certificate authority; undefined: the authorities that Node trusts. */
  caFile: string | undefined;
}

export const ServerName = z.string().max(63).regex(SERVER_NAME, 'must be a-z, digits and -');
export const ServerUrl = z
  .url({ protocol: /^https?$/, error: 'must be the server’s address, e.g. https://id.example.com' })
  .transform((s) => s.replace(/(?<!\/)\/+$/, ''));

const File = z.string().min(1, 'must name a file').optional();
const Parts = z.strictObject({
  name: ServerName,
  url: ServerUrl,
  'token-file': File,
  'client-secret-file': File,
  'ca-file': File,
});

/**
 * `eu=https://id.eu.example.com,token-file=/var/run/secrets/eu/token`
 * @throws Error naming the fault
 */
export function parseServer(text: string): ServerConfig {
  const [first = '', ...more] = text.split(',');
  const pair = (part: string): [string, string] => {
    const at = part.indexOf('=');
    if (at < 1) throw new Error(`"${part}" is not of the form NAME=VALUE`);
    return [part.slice(0, at), part.slice(at + 1)];
  };
  const [name, url] = pair(first);
  const parsed = Parts.safeParse({ ...Object.fromEntries(more.map(pair)), name, url });
  if (!parsed.success) {
    const faults = parsed.error.issues.map(({ path, message }) => [...path, message].join(': '));
    throw new Error(`${name}: ${faults.join('; ')}`);
  }
  const { 'token-file': tokenFile, 'client-secret-file': secretFile, 'ca-file': caFile } = parsed.data;
  if ((tokenFile === undefined) === (secretFile === undefined))
    throw new Error(`${name}: needs one of token-file=FILE and client-secret-file=FILE`);
  const credential = tokenFile === undefined ? { secretFile: secretFile ?? '' } : { tokenFile };
  return { name, url: parsed.data.url, credential, caFile };
}

/** @throws Error naming the file that can't be read */
export function fetchOf({ caFile }: ServerConfig, connections: Connections | undefined): typeof globalThis.fetch {
  if (caFile === undefined) return globalThis.fetch;
  let ca: string;
  try {
    ca = readFileSync(caFile, 'utf8');
  } catch (cause) {
    throw new Error(`--server: ca-file ${caFile} cannot be read: ${errorWords(cause)}`, { cause });
  }
  return fetchBy(connections?.dispatcher({ ca }) ?? new Agent({ connect: { ca } }));
}
