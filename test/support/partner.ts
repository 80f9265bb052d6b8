// Owns: a second Realmkeeper, a process with a database of its own, and TLS before it and before the test's own server; a browser that
// goes from one to the other by their pages' forms and links.
// Does not own: the agreement of the two; the tests declare it.
// Implements: tests of federation with a foreign server.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import type { Client } from '../../server/contract/client.ts';
import { compileCache } from './compile-cache.ts';
import { makeServerCertificate } from './gateways.ts';
import { createPerson, decode, type Person } from './person.ts';
import { startTestServer, type TestServer } from './server.ts';
import { startServerProcess } from './server-process.ts';

/** A server, where everybody reaches it and where it listens behind the TLS. */
export interface Site {
  url: string;
  inside: string;
  admin: Client;
}

export interface Sites {
  here: Site;
  /** Another process, database and issuer. */
  there: Site;
  server: TestServer;
  stop(): Promise<void>;
}

/** Listens at once, so that the port is known before the server behind it. */
async function terminate(options: tls.TlsOptions) {
  const behind = { port: 0 };
  const sockets = new Set<net.Socket>();
  const server = tls.createServer(options, (near) => {
    const far = net.connect(behind.port, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    behind,
    url: `https://localhost:${address.port}`,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export async function startSites(): Promise<Sites> {
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const one of stops.splice(0).reverse()) await one();
  };
  try {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'partner-'));
    stops.push(() => rm(folder, { recursive: true, force: true }));
    const { cert, key, ca } = await makeServerCertificate();
    const caFile = path.join(folder, 'ca.pem');
    await writeFile(caFile, ca);
    const [ours, theirs] = [await terminate({ cert, key }), await terminate({ cert, key })];
    const outbound = { SVC_OUTBOUND_ALLOW: 'localhost', SVC_OUTBOUND_CA_FILE: caFile };
    const partner = await startServerProcess({ ...compileCache(), SVC_BASE_URL: theirs.url, ...outbound });
    stops.push(partner.stop);
    theirs.behind.port = Number(new URL(partner.inside).port);
    const server = await startTestServer({ env: { ...outbound, SVC_BASE_URL: ours.url } });
    ours.behind.port = Number(new URL(server.baseUrl).port);
    stops.push(server.stop);
    return {
      server,
      here: { url: ours.url, inside: server.baseUrl, admin: server.admin },
      there: { url: theirs.url, inside: partner.inside, admin: partner.admin },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A page that waits for the user. */
export interface Page {
  url: string;
  status: number;
  text: string;
  heading: string;
  fields: Record<string, string>;
}
/** Where the browser goes, and what it posts there. */
export interface Hop {
  url: string;
  form?: Record<string, string>;
}

const SUBMITS = 'document.forms[0].submit()';
const FOLLOWS = /location\.replace\(document\.(?:querySelector\('main a\.button'\)|getElementById\('next'\))\.href\)/;
const fieldsOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...(/<form[\s\S]*?<\/form>/.exec(text)?.[0].matchAll(/<input[^>]*>/g) ?? [])].flatMap(([tag]) => {
      const name = /name="([^"]*)"/.exec(tag)?.[1];
      const value = decode(/value="([^"]*)"/.exec(tag)?.[1] ?? '');
      return name === undefined || tag.includes('type="checkbox"') ? [] : [[name, value] as const];
    }),
  );

/** Where a page leads by itself. */
function onwardOf(text: string, from: string): Hop | undefined {
  if (text.includes(SUBMITS)) {
    const action = decode(/<form method="post" action="([^"]*)"/.exec(text)?.[1] ?? '');
    return { url: new URL(action, from).href, form: fieldsOf(text) };
  }
  if (!FOLLOWS.test(text)) return undefined;
  const link = /<a class="button" (?:id="next" )?href="([^"]*)"/.exec(text)?.[1];
  return link === undefined ? undefined : { url: new URL(decode(link), from).href };
}

/** A browser with cookies of both sites. A form that posts to the other site sends none (SameSite=Lax). */
export function createBrowser({ here, there }: Pick<Sites, 'here' | 'there'>) {
  const people = new Map<string, Person>([here, there].map(({ url, inside }) => [url, createPerson(inside)]));
  /** @param stopAt the hop that isn't made any more */
  async function go(first: Hop, stopAt: (hop: Hop) => boolean = () => false, by = ''): Promise<Page | Hop> {
    let [hop, from] = [first, by];
    for (let hops = 0; hops < 40; hops += 1) {
      if (stopAt(hop)) return hop;
      const url = new URL(hop.url);
      const person = people.get(url.origin);
      // an application's address, which no site here serves
      if (!person) return hop;
      const crossSite = hop.form !== undefined && from !== '' && from !== url.origin;
      const response = await person.once(url.pathname + url.search, {
        ...(hop.form && { method: 'POST', body: new URLSearchParams(hop.form).toString() }),
        headers: {
          ...(hop.form && { 'content-type': 'application/x-www-form-urlencoded' }),
          ...(crossSite && { cookie: '' }),
        },
      });
      const text = await response.text();
      const location = response.headers.get('location');
      const next = location === null ? onwardOf(text, hop.url) : { url: new URL(location, hop.url).href };
      from = url.origin;
      if (!next) {
        const heading = decode(/<h1>([\s\S]*?)<\/h1>/.exec(text)?.[1] ?? '');
        return { url: hop.url, status: response.status, text, heading, fields: fieldsOf(text) };
      }
      hop = next;
    }
    throw new Error(`it never ends: ${hop.url}`);
  }
  async function shown(first: Hop, by?: string): Promise<Page> {
    const end = await go(first, undefined, by);
    if (!('text' in end)) throw new Error(`it leads away: ${end.url}`);
    return end;
  }
  const filled = ({ url, fields }: Page, more: Record<string, string>): Hop => ({
    url: new URL(url).origin + new URL(url).pathname,
    form: { ...fields, do: 'next', ...more },
  });
  return {
    open: (url: string) => shown({ url }),
    go,
    shown,
    filled,
    /** Fills in the page's form and goes where that leads. */
    fill: (page: Page, more: Record<string, string>) => shown(filled(page, more), new URL(page.url).origin),
  };
}
export type Browser = ReturnType<typeof createBrowser>;
