// Connecting an LDAP directory: where it is, its people, its groups; then a test, and the first sync.
import type { Row } from '../../kinds/entry.ts';
import type { PageProps } from '../page.ts';
import { type Answers, type Ask, listOf, textOf, withoutEmpty } from './asks.tsx';
import { CreateWizard, type Variant, type WizardSpec } from './create-wizard.tsx';
import { UnsavedTest } from './directory-found.tsx';
import LdapEnd from './ldap-end.tsx';

const connection: readonly Ask[] = [
  { name: 'alias', label: 'Alias', help: 'Its name in the realm, which stays', fresh: 'corporate', mono: true },
  {
    name: 'urls',
    label: 'Servers',
    help: 'Tried in order. ldap:// needs STARTTLS, but for a loopback address',
    is: 'list',
    item: 'server',
    fresh: [''],
    at: 'connection.urls',
  },
  {
    name: 'startTls',
    label: 'STARTTLS',
    help: 'On for ldap://: nothing is said before the connection is encrypted',
    is: 'toggle',
    at: 'connection.startTls',
  },
  {
    name: 'bindDn',
    label: 'Bind DN',
    help: 'As whom the realm asks. An account that reads is enough',
    at: 'connection.bindDn',
    placeholder: 'cn=realmkeeper,dc=example,dc=com',
    mono: true,
    optional: true,
  },
  {
    name: 'secret',
    label: 'Password of the bind DN',
    help: 'It is stored encrypted, and never shown again',
    is: 'secret',
    optional: true,
  },
  {
    name: 'caCertificate',
    label: 'Certificate authority',
    help: 'PEM. Left out: one of the known authorities must have signed its certificate',
    is: 'long',
    at: 'connection.caCertificate',
    optional: true,
  },
];

const people = (isActive: boolean): Ask[] => [
  {
    name: 'base',
    label: 'Base of people',
    help: 'Below which people are',
    at: 'users.base',
    placeholder: 'ou=people,dc=example,dc=com',
    mono: true,
  },
  {
    name: 'filter',
    label: 'Filter',
    help: 'Which of them',
    at: 'users.filter',
    fresh: isActive ? '(&(objectCategory=person)(objectClass=user))' : '(objectClass=inetOrgPerson)',
    mono: true,
  },
  {
    name: 'username',
    label: 'Attribute of the username',
    at: 'users.attributes.username',
    fresh: isActive ? 'sAMAccountName' : 'uid',
    mono: true,
  },
  {
    name: 'email',
    label: 'Attribute of the e-mail address',
    at: 'users.attributes.email',
    fresh: 'mail',
    mono: true,
    optional: true,
  },
  {
    name: 'firstName',
    label: 'Attribute of the first name',
    at: 'users.attributes.firstName',
    fresh: 'givenName',
    mono: true,
    optional: true,
  },
  {
    name: 'lastName',
    label: 'Attribute of the last name',
    at: 'users.attributes.lastName',
    fresh: 'sn',
    mono: true,
    optional: true,
  },
  { name: 'trustEmail', label: 'Addresses count as confirmed', is: 'toggle', at: 'users.trustEmail' },
  {
    name: 'mode',
    label: 'People come',
    is: 'choice',
    fresh: 'import',
    options: [
      { id: 'import', label: 'By a sync', help: 'A sync takes all of its people' },
      { id: 'live', label: 'With their first sign-in', help: 'Nothing is copied before that' },
    ],
  },
];

const groups = (isActive: boolean): Ask[] => [
  {
    name: 'withGroups',
    label: 'Take groups over',
    help: 'Groups of the directory become groups of the realm',
    is: 'toggle',
  },
  {
    name: 'groupBase',
    label: 'Base of groups',
    at: 'groups.base',
    placeholder: 'ou=groups,dc=example,dc=com',
    mono: true,
    when: ({ withGroups }) => withGroups === true,
  },
  {
    name: 'groupFilter',
    label: 'Filter',
    at: 'groups.filter',
    fresh: isActive ? '(objectClass=group)' : '(objectClass=groupOfNames)',
    mono: true,
    when: ({ withGroups }) => withGroups === true,
  },
  {
    name: 'nested',
    label: 'Groups in groups count',
    help: 'On: members of a group in another group are in both',
    is: 'toggle',
    at: 'groups.nested',
    when: ({ withGroups }) => withGroups === true,
  },
  {
    name: 'schedule',
    label: 'Sync',
    is: 'choice',
    fresh: '0',
    options: [
      { id: '0', label: 'Only when asked' },
      { id: '900', label: 'Every 15 minutes' },
      { id: '3600', label: 'Every hour' },
      { id: '86400', label: 'Every day' },
    ],
  },
  {
    name: 'removed',
    label: 'People who are there no more',
    is: 'choice',
    fresh: 'disable',
    options: [
      { id: 'disable', label: 'Are disabled' },
      { id: 'keep', label: 'Stay as they are' },
    ],
  },
];

const bodyOf =
  (isActive: boolean) =>
  (answers: Answers): Row => ({
    type: 'ldap',
    ...withoutEmpty({
      alias: textOf(answers, 'alias'),
      secret: textOf(answers, 'secret'),
      mode: textOf(answers, 'mode'),
      removed: textOf(answers, 'removed'),
    }),
    schedule: Number(textOf(answers, 'schedule') || '0'),
    connection: {
      urls: listOf(answers, 'urls'),
      ...(answers.startTls === true && { startTls: true }),
      ...withoutEmpty({ bindDn: textOf(answers, 'bindDn'), caCertificate: textOf(answers, 'caCertificate') }),
    },
    users: {
      base: textOf(answers, 'base'),
      ...withoutEmpty({ filter: textOf(answers, 'filter') }),
      attributes: withoutEmpty({
        username: textOf(answers, 'username'),
        email: textOf(answers, 'email'),
        firstName: textOf(answers, 'firstName'),
        lastName: textOf(answers, 'lastName'),
      }),
      ...(isActive && { uuidAttribute: 'objectGUID' }),
      ...(answers.trustEmail === true && { trustEmail: true }),
    },
    ...(answers.withGroups === true && {
      groups: {
        base: textOf(answers, 'groupBase'),
        ...withoutEmpty({ filter: textOf(answers, 'groupFilter') }),
        ...(answers.nested === true && { nested: true }),
      },
    }),
  });

const variant = (id: string, label: string, help: string, isActive: boolean): Variant => ({
  id,
  label,
  help,
  section: 'userFederation',
  steps: [
    { id: 'connection', title: 'Connection', asks: connection },
    { id: 'people', title: 'People', asks: people(isActive) },
    { id: 'groups', title: 'Groups and sync', asks: groups(isActive) },
  ],
  body: bodyOf(isActive),
});

const spec: WizardSpec = {
  name: 'ldap',
  title: 'Connect a directory',
  lead: 'People of an LDAP directory sign in here with the password that they have there.',
  choose: 'Directory',
  end: 'Test and sync',
  variants: [
    variant('ldap', 'OpenLDAP, 389, and others', 'With uid, inetOrgPerson and groupOfNames', false),
    variant('active-directory', 'Active Directory', 'With sAMAccountName and objectGUID', true),
  ],
  tryOut: (body, realm) => <UnsavedTest realm={realm} body={body} />,
  End: LdapEnd,
};

export default function ConnectDirectory({ params: { realm } }: PageProps) {
  return <CreateWizard spec={spec} realm={realm} />;
}
