// Every column with values encrypted by the master key, and their contexts, as the writing feature defines them: a
// rotation of the key encrypts these again. Values that live for minutes (sign-ins, counted guesses) are left out. It
// decides nothing.

import { separateWords } from '../contract/apart.ts';
import { declaredKinds } from '../contract/declared-kinds.ts';
import type { KindOf } from '../contract/kind.ts';
import { otpContext } from '../crypto/otp.ts';
import type { SealedColumn } from '../domain/reseal.ts';
import { saltContext } from '../domain/subjects.ts';
import { chainContext } from '../events/block.ts';
import { contextOf as encryptionKeyContext } from '../features/configuration/keys/encryption-keys.ts';
import { contextOf as keyContext } from '../features/configuration/keys/seed.ts';
import { contextOf as tokenContext, digestOf as tokenDigest } from '../features/configuration/messaging/push-tokens.ts';
import { contentContext } from '../features/configuration/messaging/send.ts';
import { contextAtRest } from '../resource/at-rest.ts';
import { sealedAs } from '../resource/declared.ts';

const secretOf = (table: string, kind: string, column = 'secret'): SealedColumn => ({
  table,
  key: 'id',
  column,
  context: ({ realm, key }) => contextAtRest(kind, { realm, id: key }),
});

export const sealedColumns: readonly SealedColumn[] = [
  {
    table: 'realm_key',
    key: 'key_id',
    column: 'private_key',
    context: ({ realm, key }) => keyContext(realm, key),
  },
  {
    table: 'realm_encryption_key',
    key: 'key_id',
    column: 'private_key',
    context: ({ realm, key }) => encryptionKeyContext(realm, key),
  },
  { table: 'realm', key: null, column: 'subject_salt', context: ({ realm }) => saltContext(realm) },
  { table: 'event_chain', key: null, column: 'key', context: ({ realm }) => chainContext(realm) },
  {
    table: 'credential',
    key: 'id',
    column: 'secret',
    member: 'sealed',
    context: ({ realm, key }) => otpContext(realm, key),
  },
  secretOf('provider_session', 'provider-session', 'id_token'),
  secretOf('provider_token', 'provider-token', 'access_token'),
  secretOf('signal_stream', 'signal-stream', 'authorization_header'),
  ...Object.values<KindOf>(declaredKinds).flatMap(({ kind, table, entry }) =>
    entry.secrets.map((field) => secretOf(table, sealedAs(kind), separateWords(field, '_'))),
  ),
  { table: 'message', key: 'id', column: 'content', context: ({ realm, key }) => contentContext(realm, key) },
  {
    table: 'push_token',
    key: 'id',
    column: 'token',
    digest: { column: 'token_digest', of: tokenDigest },
    context: ({ realm, digest }) => tokenContext(realm, digest ?? Buffer.alloc(0)),
  },
];
