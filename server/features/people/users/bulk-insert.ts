// Writes the users of a document into an empty realm: by COPY into `realm_user`, in the import's transaction, while the
// document is parsed. An empty realm has no users to compare with. If a row fails, the transaction is rolled back, and the
// staged import reports the failures (transfer.ts). Decisions "Import, export, plan".
import { Readable } from 'node:stream';
import type { Seal } from '../../../crypto/seal.ts';
import { copyInto, pgArray, type Rows, rowsInto } from '../../../db/bulk.ts';
import { stagingTable } from '../../../db/staging.ts';
import type { Tx } from '../../../db/transact.ts';
import { createTies, type Declares, readUser } from './document-user.ts';
import type { UserSink } from './user-sink.ts';

const COLUMNS =
  'realm_user (realm_id, id, username, email, email_verified, first_name, last_name, enabled, attributes, ' +
  'required_actions, created_at, manager)';
/** The document may declare the roles and groups later, so the ties wait in rows of the staging table. */
const TIES =
  '(realm_id, import_id, n, id, username, declared, action, roles, groups, client_roles, credentials, identities)';
const PIECE = 64 * 1024;

export interface BulkInsert extends Pick<UserSink, 'add' | 'flush'> {
  /** The import whose staging rows hold the ties. */
  importId: string;
  declares: Declares;
  count(): number;
  /** Call it before the first `add`. */
  into(tx: Tx, owner: { manager: string; at: Date }): void;
  finish(): Promise<void>;
  /** Ends the streams that a transaction waits for before it is rolled back. */
  abort(): Promise<void>;
  /** One JSON object for each user, one a line, each after a comma. */
  changes(): Readable;
}

export interface BulkInsertDeps {
  databaseUrl: string;
  seal: Seal;
  newId: () => string;
  realm: string;
}

export function createBulkInsert({ databaseUrl, seal, newId, realm }: BulkInsertDeps): BulkInsert {
  const importId = newId();
  const ties = createTies({ seal, newId, realm });
  const tied = rowsInto(() => copyInto(databaseUrl, `${stagingTable(realm, importId)} ${TIES}`));
  let people: Rows | undefined;
  let manager = '';
  let createdAt = '';
  let count = 0;
  /** Usernames as JSON, one a line, held as bytes until the response is sent. */
  const names: Buffer[] = [];
  let recent = '';
  function noteName(username: string): void {
    recent += `${JSON.stringify(username)}\n`;
    if (recent.length < PIECE) return;
    names.push(Buffer.from(recent));
    recent = '';
  }

  return {
    importId,
    declares: ties.declares,
    count: () => count,
    into(tx, owner) {
      people = rowsInto(() => tx.copy(COLUMNS));
      manager = owner.manager;
      createdAt = owner.at.toISOString();
    },
    add(value, path, n) {
      const { user, errors } = readUser(value, path);
      if (errors) return errors;
      const id = user.id ?? newId();
      people?.add([
        realm,
        id,
        user.username,
        user.email,
        user.emailVerified ?? false,
        user.firstName,
        user.lastName,
        user.enabled ?? true,
        user.attributes ? JSON.stringify(user.attributes) : '{}',
        user.requiredActions ? pgArray(user.requiredActions) : '{}',
        user.createdAt === undefined ? createdAt : new Date(user.createdAt).toISOString(),
        manager,
      ]);
      const { roles, groups, clientRoles, credentials, identities } = ties.of(user);
      if (roles || groups || clientRoles || credentials || identities)
        tied.add([
          realm,
          importId,
          n,
          id,
          user.username,
          '{}',
          'create',
          roles && pgArray(roles),
          groups && pgArray(groups),
          clientRoles && pgArray(clientRoles),
          credentials && JSON.stringify(credentials),
          identities && JSON.stringify(identities),
        ]);
      noteName(user.username);
      count += 1;
      return [];
    },
    async flush() {
      await people?.flush();
      await tied.flush();
    },
    async finish() {
      await people?.finish();
      await tied.finish();
    },
    async abort() {
      await people?.abort();
      await tied.abort();
    },
    changes: () => Readable.from(linesOf([...names, Buffer.from(recent)]), { objectMode: false }),
  };
}

function* linesOf(names: readonly Buffer[]): Generator<Buffer> {
  for (const chunk of names) {
    const lines = chunk
      .toString()
      .split('\n')
      .slice(0, -1)
      .map((name) => `,{"action":"create","kind":"user","key":${name},"fields":[]}\n`);
    if (lines.length > 0) yield Buffer.from(lines.join(''));
  }
}
