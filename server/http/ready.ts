// Owns: answering frequent requests for ready documents before any other processing of a request.
// Does not own: the documents and their readers (features/protocol/discovery). A request for another document takes the usual way.
// Implements: performance, "discovery" and "jwks" beside node:http.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { nameRequest } from '../telemetry/spans.ts';

/** A complete response: status 200, these headers, this text. */
export interface ReadyAnswer {
  body: string;
  headers: Readonly<Record<string, string | number>>;
}

/** A document that each realm has at one address. */
export interface ReadyDocument {
  /** The route's pattern, which begins with `/realms/:realm/`. */
  url: string;
  ready(realm: string): ReadyAnswer | undefined;
}

type Count = (request: { method: string; uri: string; status: number; seconds: number }) => void;

const BEFORE = '/realms/';
const PATTERN = `${BEFORE}:realm`;

export const readyAnswer = (body: string, headers: Readonly<Record<string, string>>): ReadyAnswer => ({
  body,
  headers: { ...headers, 'content-length': Buffer.byteLength(body) },
});

/** @param count called for every request that is answered here, as for those that a route answers */
export function answerReady(documents: readonly ReadyDocument[], count: Count) {
  const byRest = new Map(documents.map((document) => [document.url.slice(PATTERN.length), document]));
  let closing = false;

  function answer({ method, url = '' }: IncomingMessage, response: ServerResponse): boolean {
    if (method !== 'GET' || closing || !url.startsWith(BEFORE)) return false;
    const end = url.indexOf('/', BEFORE.length);
    const document = end < 0 ? undefined : byRest.get(url.slice(end));
    const ready = document?.ready(url.slice(BEFORE.length, end));
    if (!document || !ready) return false;
    const began = performance.now();
    response.writeHead(200, ready.headers);
    response.end(ready.body);
    nameRequest(document.url, undefined);
    count({ method, uri: document.url, status: 200, seconds: (performance.now() - began) / 1000 });
    return true;
  }

  return {
    /** Answers a request if it can, so that `listener` doesn't get it. */
    before:
      (listener: RequestListener): RequestListener =>
      (request, response) => {
        if (!answer(request, response)) listener(request, response);
      },
    /** From now on requests go to Fastify, which refuses them all in the same way. */
    close(): void {
      closing = true;
    },
  };
}
export type Ready = ReturnType<typeof answerReady>;
