// Translates Keycloak's LDAP user storage to directories of this server; pure. docs/keycloak.md.
import { type Component, isMasked, type SubComponent } from './export-shape.ts';
import type { Notes } from './notes.ts';

type Config = (name: string) => string;
const configOf =
  ({ config = {} }: SubComponent): Config =>
  (name) =>
    (config[name] ?? [])[0]?.trim() ?? '';
const isOn = (value: string): boolean => value === 'true';
const said = (fields: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '' && value !== undefined));

/** `person, top` → a filter for entries with both classes. */
function filterOf(classes: string, more: string): string | undefined {
  const all = classes.split(',').flatMap((one) => (one.trim() === '' ? [] : [`(objectClass=${one.trim()})`]));
  if (more !== '') all.push(more.startsWith('(') ? more : `(${more})`);
  return all.length > 1 ? `(&${all.join('')})` : all[0];
}

function attributesOf(mappers: readonly SubComponent[], note: (field: string, why: string) => void) {
  const attributes: Record<string, string> = {};
  for (const mapper of mappers) {
    const { name, providerId } = mapper;
    const at = configOf(mapper);
    const target = at('user.model.attribute');
    if (providerId === 'user-attribute-ldap-mapper' && at('ldap.attribute') !== '' && target !== '')
      attributes[target] = at('ldap.attribute');
    else if (providerId !== 'group-ldap-mapper') note(`mappers.${name}`, `there is no mapper ${providerId} here`);
  }
  return attributes;
}

function groupsOf(mapper: SubComponent): Record<string, unknown> {
  const at = configOf(mapper);
  const path = at('groups.path');
  return said({
    base: at('groups.dn'),
    filter: filterOf(at('group.object.classes'), at('groups.ldap.filter')),
    nameAttribute: at('group.name.ldap.attribute'),
    memberAttribute: at('membership.ldap.attribute'),
    below: path === '' ? '/' : path,
  });
}

/** Settings that are carried over, or don't matter to a reader of the directory; every other set value is reported. */
const silent =
  /^(enabled|vendor|connectionUrl|startTls|bindDn|bindCredential|authType|usersDn|userObjectClasses|customUserSearchFilter|searchScope|usernameLDAPAttribute|rdnLDAPAttribute|uuidLDAPAttribute|editMode|importEnabled|pagination|fullSyncPeriod|batchSizeForSync|trustEmail|useTruststoreSpi|connectionPooling\w*|lastSync|debug|connectionTrace|krbPrincipalAttribute|relativeCreateDn|removeInvalidUsersEnabled|usePasswordModifyExtendedOp|validatePasswordPolicy)$/;
const usual: Readonly<Record<string, string>> = { cachePolicy: 'DEFAULT', priority: '0', changedSyncPeriod: '-1' };

export function directoryOf(given: Component, notes: Notes): Record<string, unknown> | undefined {
  const { name: alias = '', providerId = '' } = given;
  const note = (field: string | undefined, why: string) => notes.add({ kind: 'directory', key: alias, field }, why);
  if (providerId !== 'ldap') {
    note(undefined, `there is no ${providerId} here: its people have no password here`);
    return undefined;
  }
  const at = configOf(given);
  for (const field of Object.keys(given.config ?? {})) {
    const value = at(field);
    if (!silent.test(field) && value !== '' && value !== 'false' && value !== usual[field])
      note(`config.${field}`, 'has no counterpart here');
  }
  const mappers = given.subComponents?.['org.keycloak.storage.ldap.mappers.LDAPStorageMapper'] ?? [];
  const [groups, ...others] = mappers.filter((mapper) => mapper.providerId === 'group-ldap-mapper');
  for (const other of others) note(`mappers.${other.name}`, 'groups come from one place here');
  const urls = at('connectionUrl').split(/\s+/).filter(Boolean);
  const open = urls.some((url) => url.startsWith('ldap:')) && !isOn(at('startTls'));
  if (open) note('config.connectionUrl', 'nothing is asked unencrypted here: STARTTLS is asked for');
  const secret = at('bindCredential');
  const masked = secret === '' || isMasked(secret);
  const anonymous = at('authType') === 'none' || at('bindDn') === '';
  if (!anonymous && masked) note('config.bindCredential', 'is not in the export: set it');
  if (at('editMode') === 'WRITABLE')
    note('config.editMode', 'nothing is written there: people change their data where it comes from');
  const full = Number(at('fullSyncPeriod'));
  const attributes = { username: at('usernameLDAPAttribute') || 'uid', ...attributesOf(mappers, note) };
  return {
    alias,
    type: 'ldap',
    enabled: at('enabled') !== 'false',
    mode: full > 0 ? 'import' : 'live',
    connection: {
      urls,
      ...((isOn(at('startTls')) || open) && { startTls: true }),
      ...(!anonymous && { bindDn: at('bindDn') }),
    },
    users: said({
      base: at('usersDn'),
      filter: filterOf(at('userObjectClasses'), at('customUserSearchFilter')),
      scope: at('searchScope') === '1' ? 'one' : 'sub',
      attributes,
      uuidAttribute: at('uuidLDAPAttribute'),
      trustEmail: isOn(at('trustEmail')),
    }),
    ...(groups && { groups: groupsOf(groups) }),
    schedule: full > 0 ? full : 0,
    ...(Number(at('batchSizeForSync')) > 0 && { pageSize: Math.min(Number(at('batchSizeForSync')), 5000) }),
    ...(!anonymous && !masked && { secret }),
  };
}
