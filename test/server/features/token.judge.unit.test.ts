import { describe, expect, test } from 'vitest';
import { sha256 } from '../../../server/crypto/tokens.ts';
import type { GrantData } from '../../../server/domain/grant-data.ts';
import type { CodeRow, FamilyRow } from '../../../server/domain/grants.ts';
import {
  type CodeRequest,
  judgeCode,
  judgeRefresh,
  type RefreshRequest,
  type Verdict,
} from '../../../server/features/protocol/token/judge.ts';

const now = new Date('2026-03-01T12:00:00Z');
const later = new Date(now.getTime() + 60_000);
const verifier = 'v'.repeat(43);
const granted: GrantData = {
  redirectUri: 'https://app.example/cb',
  scopes: ['email', 'profile'],
  openid: true,
  resources: ['https://api.example', 'https://files.example'],
  codeChallenge: sha256(verifier).toString('base64url'),
  nonce: null,
  authTime: 0,
  acr: '1',
  amr: ['pwd'],
};
const person = {
  n: 0,
  user_id: 'u',
  username: 'ada',
  subject: null,
  email: null,
  email_verified: false,
  updated_at: new Date(0),
  first_name: null,
  last_name: null,
  enabled: true,
  attributes: {},
  groups: [],
  inherited: [],
  organizations: [],
  roles: [],
  user_enabled: true,
};
const code: CodeRow = {
  ...person,
  session_id: 's',
  session_expires_at: later,
  request: granted,
  expires_at: later,
  used_at: null,
  family_id: null,
};
const family: FamilyRow = {
  ...person,
  family_id: 'f',
  token_hash: sha256('presented'),
  revoked_at: null,
  expires_at: later,
  grant_data: granted,
  generation: 0,
  session_id: 's',
  session_expires_at: later,
  session_last_seen_at: now,
  session_lives: true,
  session_factors: [],
  session_methods: null,
  session_started_at: now,
  session_risk: null,
  types: [],
};
const codeRequest: CodeRequest = {
  now,
  sender: {},
  redirectUri: granted.redirectUri,
  verifier,
  resources: [],
  presentResources: () => granted.resources,
  details: undefined,
};
const refreshRequest: RefreshRequest = {
  now,
  sender: {},
  presented: family.token_hash,
  resources: [],
  presentResources: () => granted.resources,
  details: undefined,
  scopes: undefined,
  isEnough: () => true,
};
const said = (verdict: Verdict) =>
  verdict.ok ? 'passed' : [verdict.error, verdict.reason ?? verdict.description, verdict.effect];

describe('a code', () => {
  test('against which nothing speaks passes, for all that was granted', () => {
    expect(judgeCode(code, codeRequest)).toEqual({
      ok: true,
      resources: granted.resources,
      scopes: ['openid', 'email', 'profile'],
    });
  });

  test('passes without redirect_uri where PKCE binds it (OAuth 2.1 §10.2)', () => {
    expect(judgeCode(code, { ...codeRequest, redirectUri: undefined })).toMatchObject({ ok: true });
  });

  test.each<[string, Partial<CodeRow> | undefined, Partial<CodeRequest>, string[]]>([
    ['nobody has', undefined, {}, ['invalid_grant', 'no such code for this client', 'nothing']],
    ['was used', { used_at: now }, {}, ['invalid_grant', 'the code was used before', 'reuse']],
    [
      'was used, and comes with another verifier',
      { used_at: now },
      { verifier: 'w'.repeat(43) },
      ['invalid_grant', 'the code was used before, and the PKCE verifier does not hold', 'nothing'],
    ],
    [
      'was used, and comes for elsewhere',
      { used_at: now },
      { redirectUri: 'https://x' },
      ['invalid_grant', 'the code was used before, and redirect_uri differs', 'nothing'],
    ],
    ['has expired', { expires_at: now }, {}, ['invalid_grant', 'the code has expired', 'use up']],
    [
      'comes without redirect_uri, and has no PKCE',
      { request: { ...granted, codeChallenge: null } },
      { redirectUri: undefined, verifier: undefined },
      ['invalid_grant', 'redirect_uri is missing, and there is no PKCE', 'use up'],
    ],
    ['was for elsewhere', {}, { redirectUri: 'https://x' }, ['invalid_grant', 'redirect_uri differs', 'use up']],
    [
      'comes with another verifier',
      {},
      { verifier: 'w'.repeat(43) },
      ['invalid_grant', 'the PKCE verifier does not hold', 'use up'],
    ],
    [
      'comes without a verifier',
      {},
      { verifier: undefined },
      ['invalid_grant', 'the PKCE verifier does not hold', 'use up'],
    ],
    [
      'has no challenge, but a verifier',
      { request: { ...granted, codeChallenge: null } },
      {},
      ['invalid_grant', 'the PKCE verifier does not hold', 'use up'],
    ],
    ['is of a disabled person', { user_enabled: false }, {}, ['invalid_grant', 'the user is disabled', 'use up']],
    [
      'was not granted for that',
      {},
      { resources: ['https://x'] },
      ['invalid_target', 'A requested resource was not granted', 'nothing'],
    ],
    [
      'was granted for what was withdrawn',
      {},
      { presentResources: () => ['https://api.example'] },
      ['invalid_target', 'A resource that was granted is not allowed any more', 'nothing'],
    ],
  ])('that %s is refused, and the verdict says why and what goes with it', (_, row, request, expected) => {
    expect(said(judgeCode(row && { ...code, ...row }, { ...codeRequest, ...request }))).toEqual(expected);
  });
});

describe('a refresh token', () => {
  test('passes for less than was granted, in the order of the grant', () => {
    const request = { ...refreshRequest, scopes: ['profile', 'openid'], resources: ['https://files.example'] };
    expect(judgeRefresh(family, request)).toEqual({
      ok: true,
      resources: ['https://files.example'],
      scopes: ['openid', 'profile'],
    });
  });

  test('asks whether enough was proven only where nothing else speaks against it', () => {
    const isEnough = () => {
      throw new Error('asked');
    };
    expect(judgeRefresh({ ...family, user_enabled: false }, { ...refreshRequest, isEnough }).ok).toBe(false);
    expect(() => judgeRefresh(family, { ...refreshRequest, isEnough })).toThrow('asked');
  });

  test.each<[string, Partial<FamilyRow> | undefined, Partial<RefreshRequest>, string[]]>([
    ['nobody has', undefined, {}, ['invalid_grant', 'no such grant of this client', 'nothing']],
    ['was revoked', { revoked_at: now }, {}, ['invalid_grant', 'the grant was revoked', 'nothing']],
    ['was replaced', { token_hash: sha256('next') }, {}, ['invalid_grant', 'the token was used before', 'reuse']],
    [
      'was replaced and has expired',
      { token_hash: sha256('next'), expires_at: now },
      {},
      ['invalid_grant', 'the token was used before', 'reuse'],
    ],
    ['has expired', { expires_at: now }, {}, ['invalid_grant', 'the token has expired', 'nothing']],
    ['is of a disabled person', { user_enabled: false }, {}, ['invalid_grant', 'the user is disabled', 'end']],
    [
      'wants more scopes',
      {},
      { scopes: ['email', 'roles'] },
      ['invalid_scope', 'A requested scope was not granted', 'nothing'],
    ],
    [
      'wants openid that was not granted',
      { grant_data: { ...granted, openid: false } },
      { scopes: ['openid'] },
      ['invalid_scope', 'A requested scope was not granted', 'nothing'],
    ],
    [
      'wants another resource',
      {},
      { resources: ['https://x'] },
      ['invalid_target', 'A requested resource was not granted', 'nothing'],
    ],
    [
      'is for what was withdrawn',
      {},
      { presentResources: () => [] },
      ['invalid_target', 'A resource that was granted is not allowed any more', 'nothing'],
    ],
    ['has outlived its session', { session_lives: false }, {}, ['invalid_grant', 'its session has ended', 'nothing']],
    ['rests on too little', {}, { isEnough: () => false }, ['invalid_grant', 'more has to be proven than was', 'end']],
  ])('that %s is refused, and the verdict says why and what goes with it', (_, row, request, expected) => {
    expect(said(judgeRefresh(row && { ...family, ...row }, { ...refreshRequest, ...request }))).toEqual(expected);
  });
});
