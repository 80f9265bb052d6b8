// The meaning of events for receivers of Shared Signals, and the contents of tokens: CAEP 1.0, RISC 1.0, RFC 8417, RFC 9493.
import { describe, expect, test } from 'vitest';
import type { ClaimView, ScopeView } from '../../../server/domain/claims.ts';
import type { Person } from '../../../server/domain/person.ts';
import { changedClaims, setClaims, subjectIn } from '../../../server/features/protocol/ssf/claims.ts';
import { changesOf, notesOf, type Source } from '../../../server/features/protocol/ssf/notes.ts';

const at = new Date('2026-11-01T12:00:00Z');
const person = { type: 'user', id: 'u1' };
const source = (type: string, data: Record<string, unknown> = {}, more: Partial<Source> = {}): Source => ({
  id: 'e1',
  type,
  occurred_at: at,
  actor: person,
  subject: person,
  data,
  ...more,
});
const notes = (one: Source) => notesOf(one, { namespace: 'https://id.example.com' });
const only = (one: Source) => notes(one)[0];

describe('an event', () => {
  test('says who caused it', () => {
    const by = (actor: Source['actor']) => only(source('PASSWORD_CHANGED', {}, { actor }))?.payload.initiating_entity;
    expect([by(person), by({ type: 'user', id: 'u2' }), by({ type: 'client', id: 'c' })]).toEqual([
      'user',
      'admin',
      'admin',
    ]);
    expect([by(null), by({ type: 'system', id: null })]).toEqual(['system', 'system']);
  });

  test('of a session that goes on is a changed level, and another sign-in is none', () => {
    const level = (previousLevel: number | undefined, levelOfAssurance: number) =>
      notes(source('LOGIN_SUCCESS', { levelOfAssurance, ...(previousLevel !== undefined && { previousLevel }) }));
    expect(level(1, 2)).toMatchObject([
      {
        signal: 'assurance-level-change',
        payload: {
          namespace: 'https://id.example.com',
          previous_level: '1',
          current_level: '2',
          change_direction: 'increase',
        },
      },
    ]);
    expect(level(2, 1)[0]?.payload.change_direction).toBe('decrease');
    expect([level(2, 2), level(undefined, 2)]).toEqual([[], []]);
  });

  test('of a credential has CAEP’s name of its type', () => {
    const of = (type: string, data: Record<string, unknown>) => only(source(type, data))?.payload;
    expect(of('CREDENTIAL_CREATED', { type: 'otp' })).toMatchObject({ credential_type: 'app', change_type: 'create' });
    expect(of('CREDENTIAL_DELETED', { type: 'device' })).toMatchObject({
      credential_type: 'app',
      change_type: 'delete',
    });
    const passkey = (deviceType: string) => of('CREDENTIAL_CREATED', { type: 'webauthn', deviceType })?.credential_type;
    expect([passkey('multiDevice'), passkey('singleDevice')]).toEqual(['fido2-platform', 'fido2-roaming']);
    expect(only(source('SIGN_IN_REPORTED'))).toMatchObject({
      signal: 'credential-compromise',
      payload: { credential_type: 'password' },
    });
  });

  test('of a user is a notice of SCIM with the attributes that changed', () => {
    const of = (fields: string[]) =>
      notes(source('USER_UPDATED', { fields })).find(({ signal }) => signal === 'scim-patch');
    expect(of(['firstName', 'lastName', 'email', 'attributes'])?.payload).toEqual({ attributes: ['name', 'emails'] });
    expect(of(['attributes'])).toBeUndefined();
    expect(only(source('USER_CREATED'))).toMatchObject({
      signal: 'scim-create',
      payload: { attributes: ['userName', 'active'] },
    });
  });

  test('without a user, and of an administrator’s session, says nothing', () => {
    expect(notes(source('PASSWORD_CHANGED', {}, { subject: { type: 'client', id: 'c' } }))).toEqual([]);
    expect(notes(source('PASSWORD_CHANGED', {}, { subject: null }))).toEqual([]);
    expect(notes(source('SESSION_ENDED', { administrator: true }))).toEqual([]);
    expect(only(source('SESSION_ENDED', { sessionId: 's', clients: ['a', 1] }))?.session).toEqual({
      id: 's',
      clients: ['a'],
    });
  });
});

describe('a change of the account', () => {
  const state = { email: 'a@example.com', subject: null, enabled: true };
  const signals = (before: typeof state | undefined, after: typeof state | undefined, type = 'USER_UPDATED') =>
    changesOf(source(type), 'u1', { before, after }).map(({ signal }) => signal);

  test('is told once, by comparing with what was known', () => {
    expect(signals(state, { ...state, enabled: false })).toEqual(['account-disabled', 'scim-deactivate']);
    expect(signals({ ...state, enabled: false }, state)).toEqual(['account-enabled', 'scim-activate']);
    expect(signals(state, { ...state, email: 'b@example.com' })).toEqual(['identifier-changed']);
    expect(signals(state, state)).toEqual([]);
    expect(signals(undefined, state)).toEqual([]);
  });

  test('of a deleted user is told, of a pseudonym not', () => {
    expect(signals(state, undefined)).toEqual(['account-purged', 'scim-delete']);
    expect(signals(undefined, undefined, 'USER_DELETED')).toEqual(['account-purged', 'scim-delete']);
    expect(signals(undefined, undefined, 'USER_ERASED')).toEqual([]);
  });
});

test('a subject has the names that its format has, and none where the user lacks it', () => {
  const named = { iss: 'https://id', sub: 's', id: 'u1', email: null, sessionId: 'x' };
  expect(subjectIn('iss_sub', named)).toEqual({ format: 'iss_sub', iss: 'https://id', sub: 's' });
  expect(subjectIn('email', named)).toBeUndefined();
  expect(subjectIn('opaque', { ...named, sub: undefined })).toBeUndefined();
  expect(subjectIn('scim', named)).toEqual({ format: 'scim', uri: '/Users/u1' });
  expect(subjectIn('complex', named)).toEqual({
    format: 'complex',
    user: { format: 'iss_sub', iss: 'https://id', sub: 's' },
    session: { format: 'opaque', id: 'x' },
  });
});

test('a token has one event, its subject, and no claim by which it could pass for another token', () => {
  const contents = {
    iss: 'i',
    aud: 'a',
    jti: 'j',
    at,
    subject: { format: 'opaque', id: 'o' },
    event: 'urn:e',
    payload: { n: 1 },
  };
  const claims = setClaims(contents);
  expect(Object.keys(claims).sort()).toEqual(['aud', 'events', 'iat', 'iss', 'jti', 'sub_id']);
  expect(claims.events).toEqual({ 'urn:e': { n: 1 } });
  expect(setClaims({ ...contents, txn: 't', subjectInEvents: true })).toMatchObject({
    txn: 't',
    events: { 'urn:e': { subject: { format: 'opaque', id: 'o' }, n: 1 } },
  });
});

test('changed claims are those that the client gets, with null for what is gone', () => {
  const claim = (name: string, source: ClaimView['source'], attribute: string | null = null): ClaimView => ({
    name,
    source,
    attribute,
    value: null,
    multivalued: false,
    aggregate: false,
    jsonType: 'string',
    in: ['idToken'],
  });
  const scope = (claims: ClaimView[]): ScopeView => ({ name: 's', description: null, inTokenScope: true, claims });
  const scopes = [
    scope([claim('given_name', 'property', 'firstName'), claim('name', 'property', 'fullName')]),
    scope([
      claim('roles', 'roles'),
      claim('tier', 'attribute', 'tier'),
      { ...claim('hidden', 'attribute', 'x'), in: [] },
    ]),
  ];
  const ana: Person = {
    id: 'u1',
    username: 'ana',
    subject: null,
    email: null,
    emailVerified: false,
    updatedAt: at,
    firstName: 'Ana',
    lastName: null,
    attributes: {},
    inherited: [],
    groups: [],
    organizations: [],
    roles: { realm: ['reader'], clients: {} },
  };
  const changed = (fields: string[]) => changedClaims({ mappers: [] }, scopes, ana, fields);
  expect(changed(['firstName'])).toEqual({ given_name: 'Ana', name: 'Ana' });
  expect(changed(['attributes'])).toEqual({ tier: null });
  expect(changed(['roles'])).toEqual({ roles: ['reader'] });
  expect(changed(['email', 'requiredActions'])).toBeUndefined();
});
