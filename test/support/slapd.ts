// Owns: a real directory for tests: OpenLDAP's slapd on ports of loopback, by LDAP and LDAPS, that can be killed and comes back.
// Does not own: what stands in it, which the tests write.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'ldapts';
import { freePort } from './free-port.ts';
import { makeServerCertificate } from './gateways.ts';
import { installPackages } from './packages.ts';

const execute = promisify(execFile);
const SCHEMAS = '/etc/ldap/schema';
const folders = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin', '/usr/lib/openldap'].filter(Boolean);
const found = (name: string) => folders.map((folder) => path.join(folder, name)).find((file) => existsSync(file));

/** The program's path; where there is none, installs Debian's `slapd` if root's rights can be had, else throws. */
export async function slapdPath(log: (message: string) => void = () => {}): Promise<string> {
  if (!found('slapd') || !existsSync(SCHEMAS)) {
    log('slapd: none found, installing the slapd package');
    await installPackages(['slapd'], { missing: 'no slapd was found: install Debian’s package slapd', log });
  }
  const program = found('slapd');
  if (!program || !existsSync(SCHEMAS)) throw new Error(`slapd or its schemas in ${SCHEMAS} are missing`);
  return program;
}

export const BASE = 'dc=example,dc=org';
export const READER = `cn=reader,${BASE}`;
export const READER_PASSWORD = 'the reader’s password';

export interface Slapd {
  ldap: string;
  ldaps: string;
  /** PEM of who signed its certificate, for the name localhost and the address 127.0.0.1. */
  ca: string;
  /** Writes what is there: as the directory's own administrator. */
  as<T>(work: (client: Client) => Promise<T>): Promise<T>;
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** A person as LDIF has one. */
export const personLdif = (uid: string, { base = `ou=people,${BASE}`, password = `password of ${uid}` } = {}): string =>
  [
    `dn: uid=${uid},${base}`,
    'objectClass: inetOrgPerson',
    `uid: ${uid}`,
    `cn: ${uid}`,
    `sn: Last ${uid}`,
    `givenName: First ${uid}`,
    `mail: ${uid}@example.org`,
    `userPassword: ${password}`,
    '',
    '',
  ].join('\n');

const ROOT = `cn=root,${BASE}`;
const ROOT_PASSWORD = 'root';
const TREE = `dn: ${BASE}
objectClass: dcObject
objectClass: organization
o: Example
dc: example

dn: ${READER}
objectClass: organizationalRole
objectClass: simpleSecurityObject
cn: reader
userPassword:: ${Buffer.from(READER_PASSWORD).toString('base64')}

dn: ou=people,${BASE}
objectClass: organizationalUnit
ou: people

dn: ou=others,${BASE}
objectClass: organizationalUnit
ou: others

dn: ou=groups,${BASE}
objectClass: organizationalUnit
ou: groups

`;

/**
 * @param ldif what stands in it at first, beside the tree of `ou=people`, `ou=others` and `ou=groups`
 * @param schema attributes and classes of its own, in the place of OpenLDAP's copy of Active Directory's
 */
export async function startSlapd(ldif = '', { schema }: { schema?: string } = {}): Promise<Slapd> {
  const program = await slapdPath();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slapd-'));
  const [port, tlsPort] = [await freePort(), await freePort()];
  const file = (name: string) => path.join(folder, name);
  await mkdir(file('data'));
  const { cert, key, ca } = await makeServerCertificate();
  await writeFile(file('crt.pem'), cert);
  await writeFile(file('key.pem'), key);
  const modules = ['/usr/lib/ldap', '/usr/lib/openldap'].find((one) => existsSync(one));
  const schemas = ['core', 'cosine', 'inetorgperson', 'nis', ...(schema === undefined ? ['msuser'] : [])];
  if (schema !== undefined) await writeFile(file('own.schema'), schema);
  await writeFile(
    file('slapd.conf'),
    [
      ...schemas
        .map((name) => path.join(SCHEMAS, `${name}.schema`))
        .filter(existsSync)
        .map((name) => `include ${name}`),
      ...(schema === undefined ? [] : [`include ${file('own.schema')}`]),
      `pidfile ${file('pid')}`,
      `TLSCertificateFile ${file('crt.pem')}`,
      `TLSCertificateKeyFile ${file('key.pem')}`,
      ...(modules ? [`modulepath ${modules}`, 'moduleload back_mdb'] : []),
      'sizelimit unlimited',
      'database mdb',
      'maxsize 1073741824',
      `suffix "${BASE}"`,
      `rootdn "${ROOT}"`,
      `rootpw ${ROOT_PASSWORD}`,
      `directory ${file('data')}`,
      'dbnosync',
      'index objectClass,uid,mail,entryUUID,member,modifyTimestamp eq',
      // people's passwords are only tried; all else the reader may see
      'access to attrs=userPassword by anonymous auth by * none',
      `access to * by dn.exact="${READER}" read by * none`,
      '',
    ].join('\n'),
  );
  await writeFile(file('first.ldif'), TREE + ldif);
  await execute(program, ['-T', 'add', '-q', '-f', file('slapd.conf'), '-l', file('first.ldif')], {
    maxBuffer: 64 * 1024 * 1024,
  });
  let child: ChildProcess | undefined;

  async function start(): Promise<void> {
    const urls = `ldap://127.0.0.1:${port}/ ldaps://127.0.0.1:${tlsPort}/`;
    const begun = spawn(program, ['-d', '0', '-f', file('slapd.conf'), '-h', urls], { stdio: 'ignore' });
    child = begun;
    while (!(await listens(port))) {
      if (begun.exitCode !== null) throw new Error(`slapd ended with ${begun.exitCode}`);
      await sleep(20);
    }
  }
  async function kill(): Promise<void> {
    const running = child;
    child = undefined;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    running.kill('SIGKILL');
    await once(running, 'exit');
  }
  await start();
  return {
    ldap: `ldap://127.0.0.1:${port}`,
    ldaps: `ldaps://127.0.0.1:${tlsPort}`,
    ca,
    async as(work) {
      const client = new Client({ url: `ldap://127.0.0.1:${port}` });
      try {
        await client.bind(ROOT, ROOT_PASSWORD);
        return await work(client);
      } finally {
        await client.unbind();
      }
    },
    kill,
    start,
    async stop() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect({ host: '127.0.0.1', port }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
