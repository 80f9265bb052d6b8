// Owns: what others wrote to read SAML: pysaml2, python3-saml, xmlsec1, the OASIS schemas; getting them from Debian, and running them.
// Does not own: what they find (test/server/features/saml.others.long.test.ts).
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { installPackages } from './packages.ts';

const execute = promisify(execFile);
const OPENSAML = '/usr/share/xml/opensaml';
const XMLTOOLING = '/usr/share/xml/xmltooling';
/** Debian's own: its packages are no other Python's. */
const PYTHON = '/usr/bin/python3';
const PACKAGES = [
  'python3-pysaml2',
  'python3-onelogin-saml2',
  'xmlsec1',
  'libxml2-utils',
  'opensaml-schemas',
  'xmltooling-schemas',
];

const complete = async (): Promise<boolean> =>
  [OPENSAML, XMLTOOLING, '/usr/bin/xmlsec1', '/usr/bin/xmllint', PYTHON].every(existsSync) &&
  (await execute(PYTHON, ['-c', 'import saml2, onelogin.saml2.auth']).then(
    () => true,
    () => false,
  ));

export async function obtainSamlTools(log: (message: string) => void): Promise<void> {
  if (await complete()) return;
  log('SAML tools: installing them');
  const missing = `pysaml2, python3-saml, xmlsec1 or the OASIS schemas are missing: install ${PACKAGES.join(' ')}`;
  await installPackages(PACKAGES, { missing, log });
  if (!(await complete())) throw new Error(missing);
}

async function withFiles<T>(files: Record<string, string>, work: (at: (name: string) => string) => Promise<T>) {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'saml-tools-'));
  const at = (name: string) => path.join(folder, name);
  try {
    for (const [name, content] of Object.entries(files)) await writeFile(at(name), content);
    return await work(at);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
/** @returns undefined: it ended well; else what it said */
const complaint = (command: string, args: string[], env: NodeJS.ProcessEnv = {}): Promise<string | undefined> =>
  execute(command, args, { env: { ...process.env, ...env } }).then(
    () => undefined,
    ({ stderr, message }: { stderr?: string; message: string }) => stderr || message,
  );

/** Where the schemas say that they import from, and where Debian has that. */
const IMPORTS = {
  'http://www.w3.org/TR/2002/REC-xmldsig-core-20020212/xmldsig-core-schema.xsd': 'xmldsig-core-schema.xsd',
  'http://www.w3.org/TR/2002/REC-xmlenc-core-20021210/xenc-schema.xsd': 'xenc-schema.xsd',
  'http://www.w3.org/2001/xml.xsd': 'xml.xsd',
};
const CATALOG = `<catalog xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog">${Object.entries(IMPORTS)
  .map(([address, file]) => `<system systemId="${address}" uri="${XMLTOOLING}/${file}"/>`)
  .join('')}</catalog>`;

/** The document's fault by the OASIS schema; undefined if it has none. */
export const schemaFault = (xml: string, schema: 'protocol' | 'metadata'): Promise<string | undefined> =>
  withFiles({ 'it.xml': xml, 'catalog.xml': CATALOG }, (at) =>
    complaint(
      'xmllint',
      ['--noout', '--nonet', '--schema', `${OPENSAML}/saml-schema-${schema}-2.0.xsd`, at('it.xml')],
      { XML_CATALOG_FILES: at('catalog.xml') },
    ),
  );

const NAMES = {
  assertion: 'urn:oasis:names:tc:SAML:2.0:assertion:Assertion',
  response: 'urn:oasis:names:tc:SAML:2.0:protocol:Response',
  metadata: 'urn:oasis:names:tc:SAML:2.0:metadata:EntityDescriptor',
};

/** The fault that xmlsec1 finds in an element's own signature by the certificate (PEM); undefined if it finds none. */
export const signatureFault = (xml: string, element: keyof typeof NAMES, certificate: string) =>
  withFiles({ 'it.xml': xml, 'it.crt': certificate }, (at) => {
    const ids = Object.values(NAMES).flatMap((name) => ['--id-attr:ID', name]);
    const [namespace, local] = [NAMES[element].replace(/:[^:]+$/, ''), NAMES[element].replace(/.*:/, '')];
    const signature = `//*[local-name()='${local}' and namespace-uri()='${namespace}']/*[local-name()='Signature']`;
    const key = ['--enabled-key-data', 'rsa,key-name', '--pubkey-cert-pem', at('it.crt')];
    return complaint('xmlsec1', ['--verify', ...ids, '--node-xpath', signature, ...key, at('it.xml')]);
  });

export type Library = 'pysaml2' | 'python3-saml';
/** The service provider's settings, and what it has to do: saml-others.py knows what. */
export async function inPython<T>(library: Library, task: object): Promise<T> {
  const child = spawn(PYTHON, [path.join(import.meta.dirname, 'saml-others.py'), library]);
  child.stdin.end(JSON.stringify(task));
  const [out, said] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (out === '') throw new Error(`${library}: ${said.slice(-3000)}`);
  return JSON.parse(out) as T;
}
