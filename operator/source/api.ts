// Requests to the Kubernetes API. client-node does configuration and sign-in; this file has the connections, which are
// kept alive. Its typed clients aren't used: they open a connection for each request and drop a CRD's fields that they
// don't know. Only KubeConfig is imported from client-node: the whole package costs half a second and 90 MiB. build.ts
// leaves the generated clients that KubeConfig imports out of the bundles.
import { createHash } from 'node:crypto';
import type { RequestOptions } from 'node:https';
import { delimiter } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { StringDecoder } from 'node:string_decoder';
import { createGunzip } from 'node:zlib';
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { Agent, type Dispatcher, ProxyAgent, request } from 'undici';
import { z } from 'zod';
import { errorWords } from '../../server/contract/error-words.ts';
import type { Connections } from '../connections.ts';
import { ApiFailure } from './api-failure.ts';

type Tls = Pick<RequestOptions, 'ca' | 'cert' | 'key' | 'pfx' | 'passphrase' | 'rejectUnauthorized' | 'servername'>;
const Status = z.object({ message: z.string() });
const TIMEOUT_MS = 30_000;
const LONGEST_REFUSAL = 64 * 1024;

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export interface ApiRequest {
  accept?: string;
  contentType?: string;
  body?: unknown;
  signal?: AbortSignal;
}

function byDefault(): KubeConfig {
  const config = new KubeConfig();
  config.loadFromDefault();
  // the library's default without any configuration: more likely this server's own address than a cluster's
  if (config.getCurrentCluster()?.server === 'http://localhost:8080')
    throw new Error('no cluster is configured: set KUBECONFIG, or read a folder with --manifests DIR');
  return config;
}

/** Reads one kubeconfig, or several as kubectl does. */
function fromFiles(kubeconfig: string): KubeConfig {
  const config = new KubeConfig();
  for (const [index, file] of kubeconfig.split(delimiter).filter(Boolean).entries()) {
    const next = index === 0 ? config : new KubeConfig();
    try {
      next.loadFromFile(file);
    } catch (cause) {
      throw new Error(`KUBECONFIG: ${file} cannot be read: ${errorWords(cause)}`, { cause });
    }
    if (next !== config) config.mergeConfig(next);
  }
  return config;
}

/** @param kubeconfig one path or several; undefined: $HOME/.kube/config, or the pod's ServiceAccount */
export function connect(kubeconfig: string | undefined) {
  const config = kubeconfig === undefined ? byDefault() : fromFiles(kubeconfig);
  return {
    ...apiOver(config),
    /** The same API for requests that act, over connections of their own. */
    over: (connections: Connections): Api => apiOver(config, connections),
  };
}

/** @param connections undefined: undici's own */
function apiOver(config: KubeConfig, connections?: Connections) {
  const cluster = config.getCurrentCluster();
  if (!cluster) throw new Error('the Kubernetes configuration has no current context that names a cluster');
  const { server } = cluster;
  let current: { key: string; dispatcher: Dispatcher } | undefined;

  /** The connection pool, replaced when the certificates rotate. */
  function dispatcherFor(tls: Tls): Dispatcher {
    const key = createHash('sha256')
      .update(JSON.stringify([tls.ca, tls.cert, tls.key, tls.servername]))
      .digest('hex');
    if (current?.key === key) return current.dispatcher;
    const connect = given(tls);
    const former = current;
    const proxy = cluster?.proxyUrl;
    current = {
      key,
      dispatcher: proxy
        ? new ProxyAgent({ uri: proxy, requestTls: connect })
        : (connections?.dispatcher(connect) ?? new Agent({ connect })),
    };
    // requests over the old connections run to their end
    void former?.dispatcher.close().catch(() => undefined);
    return current.dispatcher;
  }

  async function send(method: Method, path: string, { accept, contentType, body }: ApiRequest, signal: AbortSignal) {
    const options: RequestOptions = {};
    await config.applyToHTTPSOptions(options);
    const headers: Record<string, string> = { accept: accept ?? 'application/json' };
    for (const [key, value] of Object.entries(options.headers ?? {}))
      if (value !== undefined) headers[key] = String(value);
    if (options.auth) headers.authorization = `Basic ${Buffer.from(options.auth).toString('base64')}`;
    if (body !== undefined) headers['content-type'] = contentType ?? 'application/json';
    const { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername } = options;
    const answer = await request(server + path, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      dispatcher: dispatcherFor({ ca, cert, key, pfx, passphrase, rejectUnauthorized, servername }),
      signal,
      // a watch is silent while nothing happens; its reader has a timeout of its own
      bodyTimeout: 0,
    });
    const content = decoded(answer.body, answer.headers['content-encoding']);
    if (answer.statusCode < 300) return content;
    const refusal = await beginningOf(content);
    throw new ApiFailure(answer.statusCode, messageOf(refusal) ?? `the Kubernetes API answered ${answer.statusCode}`);
  }

  return {
    /** The Pod's namespace, or the kubeconfig's. */
    namespace: config.getContextObject(config.getCurrentContext())?.namespace ?? 'default',
    /** @throws ApiFailure with the API server's message */
    async call(method: Method, path: string, { signal, ...ask }: ApiRequest = {}): Promise<unknown> {
      const timeout = AbortSignal.timeout(TIMEOUT_MS);
      const content = await send(method, path, ask, signal ? AbortSignal.any([signal, timeout]) : timeout);
      const whole = await text(content);
      try {
        return JSON.parse(whole);
      } catch {
        throw new Error(`${method} ${path}: the Kubernetes API answered with something that is no JSON`);
      }
    },
    /** Sends a request without a timeout: the reader has one of its own. */
    async lines(
      path: string,
      { signal, ...ask }: ApiRequest & { signal: AbortSignal },
    ): Promise<AsyncIterable<string>> {
      return linesOf(await send('GET', path, ask, signal));
    },
    async close(): Promise<void> {
      await current?.dispatcher.destroy();
    },
  };
}
export type Api = ReturnType<typeof apiOver>;

/** Drops unset fields, because the connections' types don't accept undefined. */
const given = ({ ca, cert, key, pfx, passphrase, rejectUnauthorized, servername }: Tls) => ({
  ...(ca !== undefined && { ca }),
  ...(cert !== undefined && { cert }),
  ...(key !== undefined && { key }),
  ...(pfx !== undefined && { pfx }),
  ...(passphrase !== undefined && { passphrase }),
  ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
  ...(servername !== undefined && { servername }),
});

/** The object; undefined: it doesn't exist. */
export async function undefinedIfMissing<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 404) return undefined;
    throw error;
  }
}

/** Unpacks a gzip answer: a proxy may compress an answer although the request didn't ask for it. */
function decoded(body: Readable, encoding: string | string[] | undefined): Readable {
  if (encoding === undefined || encoding === 'identity') return body;
  if (encoding !== 'gzip') throw new Error(`the Kubernetes API answered in an unknown encoding: ${encoding}`);
  const unzipped = createGunzip();
  body.on('error', (error) => unzipped.destroy(error));
  unzipped.on('close', () => body.destroy());
  return body.pipe(unzipped);
}

/** The beginning of a refusal's body: a proxy's page may be long. */
async function beginningOf(content: Readable): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of content) {
    parts.push(part);
    length += part.length;
    if (length > LONGEST_REFUSAL) break;
  }
  return Buffer.concat(parts).toString('utf8');
}

async function* linesOf(body: AsyncIterable<Buffer>): AsyncIterable<string> {
  const decoder = new StringDecoder('utf8');
  // A list is one line in many parts; they are joined once, at the end of the line.
  let parts: string[] = [];
  for await (const chunk of body) {
    const [first = '', ...more] = decoder.write(chunk).split('\n');
    parts.push(first);
    for (const next of more) {
      yield parts.join('');
      parts = [next];
    }
  }
  const rest = parts.join('') + decoder.end();
  if (rest !== '') yield rest;
}

function messageOf(text: string): string | undefined {
  try {
    return Status.safeParse(JSON.parse(text)).data?.message;
  } catch {
    return undefined;
  }
}
