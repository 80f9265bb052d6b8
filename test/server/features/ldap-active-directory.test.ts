// Owns: a directory that says things as Active Directory does: its schema, ids of bytes, bits for who is disabled, groups in groups.
// Does not own: attributes that come in ranges, which no slapd gives (directory-names.unit.test.ts).
// Implements: specification 4.2; docs/ldap.md.
import { Attribute, Change } from 'ldapts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDirectory } from '../../../server/contract/user-federation.ts';
import { listUsers } from '../../../server/contract/users.ts';
import { makePeopledRealm } from '../../support/applications.ts';
import { syncedWith } from '../../support/directories.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { BASE, READER, READER_PASSWORD, type Slapd, startSlapd } from '../../support/slapd.ts';

const PEOPLE = `ou=people,${BASE}`;
const GROUPS = `ou=groups,${BASE}`;
/** With the rules by which values are compared, which OpenLDAP's copy lacks. */
const SCHEMA = `
attributetype ( 1.2.840.113556.1.4.221 NAME 'sAMAccountName' EQUALITY caseIgnoreMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 SINGLE-VALUE )
attributetype ( 1.2.840.113556.1.4.2 NAME 'objectGUID' EQUALITY octetStringMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.40 SINGLE-VALUE )
attributetype ( 1.2.840.113556.1.4.8 NAME 'userAccountControl' EQUALITY integerMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 SINGLE-VALUE )
attributetype ( 1.2.840.113556.1.2.3 NAME 'whenChanged' EQUALITY generalizedTimeMatch ORDERING generalizedTimeOrderingMatch
  SYNTAX 1.3.6.1.4.1.1466.115.121.1.24 SINGLE-VALUE )
attributetype ( 1.2.840.113556.1.4.750 NAME 'groupType' EQUALITY integerMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 SINGLE-VALUE )
objectclass ( 1.2.840.113556.1.5.9 NAME 'user' SUP organizationalPerson STRUCTURAL
  MAY ( sAMAccountName $ objectGUID $ userAccountControl $ whenChanged $ givenName $ mail ) )
objectclass ( 1.2.840.113556.1.5.8 NAME 'group' SUP top STRUCTURAL MUST groupType MAY ( cn $ member $ objectGUID $ whenChanged ) )
`;
const USUAL = '512';
const DISABLED = '514';
/** As bytes that are no text, the first of them zero. */
const guid = (n: number) =>
  Buffer.from([0, 255, 0x5c, 0x2a, 0x28, 128, 10, n, 0, 200, 7, 7, 7, 7, 7, n]).toString('base64');
const userLdif = (name: string, n: number, control = USUAL) =>
  [
    `dn: cn=${name} of the house,${PEOPLE}`,
    'objectClass: user',
    `cn: ${name} of the house`,
    `sn: Last ${name}`,
    `givenName: First ${name}`,
    `sAMAccountName: ${name}`,
    `mail: ${name}@example.org`,
    `objectGUID:: ${guid(n)}`,
    `userAccountControl: ${control}`,
    'whenChanged: 20260101000000.0Z',
    `userPassword: password of ${name}`,
    '',
    '',
  ].join('\n');
const groupLdif = (name: string, n: number, members: string[]) =>
  [
    `dn: cn=${name},${GROUPS}`,
    'objectClass: group',
    'groupType: 2',
    `cn: ${name}`,
    `objectGUID:: ${guid(n)}`,
    ...members.map((member) => `member: ${member}`),
    '',
    '',
  ].join('\n');
const dnOf = (name: string) => `cn=${name} of the house,${PEOPLE}`;

const params = { realm: 'active' };
let server: TestServer;
let slapd: Slapd;
beforeAll(async () => {
  slapd = await startSlapd(
    userLdif('ada', 1) +
      userLdif('bob', 2, DISABLED) +
      userLdif('cleo', 3) +
      groupLdif('Inner', 11, [dnOf('ada')]) +
      groupLdif('Outer', 12, [`CN=Inner,${GROUPS}`]),
    { schema: SCHEMA },
  );
  server = await startTestServer({ env: { SVC_OUTBOUND_ALLOW: '127.0.0.1' } });
  await makePeopledRealm(server, params.realm, []);
  const body = {
    alias: 'ad',
    connection: { urls: [slapd.ldap], bindDn: READER },
    users: {
      base: PEOPLE,
      filter: '(objectClass=user)',
      attributes: { username: 'sAMAccountName', email: 'mail', firstName: 'givenName', lastName: 'sn' },
      uuidAttribute: 'objectGUID',
    },
    groups: { base: GROUPS, filter: '(objectClass=group)', nested: true },
    secret: READER_PASSWORD,
  };
  await server.admin.call(createDirectory, { params, body });
});
afterAll(async () => {
  await server?.stop();
  await slapd?.stop();
});

const sync = () => syncedWith(server, params.realm, 'ad');
const person = async (name: string) =>
  (await server.admin.call(listUsers, { params, query: { limit: 100 } })).body?.find(
    ({ username }) => username === name,
  );
const replace = (dn: string, type: string, values: string[]) =>
  slapd.as((client) =>
    client.modify(dn, new Change({ operation: 'replace', modification: new Attribute({ type, values }) })),
  );
async function signsIn(name: string): Promise<boolean> {
  const who = createPerson(server.baseUrl);
  const page = await who.open(`/realms/${params.realm}/login?for=account`);
  const { url } = await who.fill(page, { username: name, password: `password of ${name}` });
  return url.includes('/account');
}

test('somebody who signs in before any sync comes with the groups that theirs are in', async () => {
  expect(await signsIn('ada')).toBe(true);
  expect((await person('ada'))?.groups?.toSorted()).toEqual(['/ad/Inner', '/ad/Outer']);
});

test('all come by a sync, those whose account is disabled there as such; who is let in again is', async () => {
  expect(await sync()).toMatchObject({ state: 'done', read: 3, added: 2, failed: 0 });
  expect(await person('bob')).toMatchObject({ enabled: false, email: 'bob@example.org', firstName: 'First bob' });
  expect(await signsIn('bob')).toBe(false);
  await replace(dnOf('bob'), 'userAccountControl', [USUAL]);
  expect(await sync()).toMatchObject({ updated: 1 });
  expect(await signsIn('bob')).toBe(true);
  expect((await person('ada'))?.groups?.toSorted()).toEqual(['/ad/Inner', '/ad/Outer']);
});

test('a sync of what was changed goes by the time that it writes', async () => {
  await replace(dnOf('cleo'), 'givenName', ['Other']);
  expect(await syncedWith(server, params.realm, 'ad', 'changed')).toMatchObject({ state: 'done', read: 0 });
  await replace(dnOf('cleo'), 'whenChanged', ['20990101000000.0Z']);
  expect(await syncedWith(server, params.realm, 'ad', 'changed')).toMatchObject({ read: 1, updated: 1 });
  expect(await person('cleo')).toMatchObject({ firstName: 'Other' });
});

test('who gets another name and place is known by the bytes of their id, and signs in by the new name', async () => {
  const before = await person('cleo');
  await slapd.as((client) => client.modifyDN(dnOf('cleo'), `cn=cleo elsewhere,${PEOPLE}`));
  await replace(`cn=cleo elsewhere,${PEOPLE}`, 'sAMAccountName', ['cleopatra']);
  expect(await sync()).toMatchObject({ added: 0, updated: 1, disabled: 0 });
  expect((await person('cleopatra'))?.id).toBe(before?.id);
  await replace(`cn=cleo elsewhere,${PEOPLE}`, 'userPassword', ['password of cleopatra']);
  expect(await signsIn('cleopatra')).toBe(true);
});
