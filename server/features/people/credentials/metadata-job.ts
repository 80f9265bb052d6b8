// Refreshes FIDO's metadata from its address or from a file (offline copy), then notes on passkeys what it reports against
// their authenticators. Repeating it is safe: an older or the same document changes nothing, and a passkey is noted once.
import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import { errorWords } from '../../../contract/error-words.ts';
import { bySystem } from '../../../contract/events.ts';
import { certificatesInPem } from '../../../crypto/pem.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import { userParty } from '../../../domain/party.ts';
import type { Outbound } from '../../../http/outbound.ts';
import { type Job, job } from '../../../jobs/job.ts';
import * as metadata from './authenticator-metadata.ts';
import { type Metadata, readMetadata, SERVICE } from './metadata-blob.ts';
import { authenticatorMetadataTerms } from './metadata-terms.ts';
import { metadataRoots } from './passkey-library.ts';
import * as store from './passkey-store.ts';

export interface AuthenticatorMetadataDeps {
  sql: Sql;
  transact: Transact;
  outbound: Pick<Outbound, 'fetch'>;
  config: {
    SVC_FIDO_METADATA_URL?: string | undefined;
    SVC_FIDO_METADATA_FILE?: string | undefined;
    SVC_FIDO_METADATA_ROOT_FILE?: string | undefined;
  };
  now: () => Date;
  log: Pick<Logger, 'error' | 'warn'>;
}

const TIMEOUT_MS = 120_000;
/** The document has about 10 MB in 2026. */
const MAX_BYTES = 64 * 1024 * 1024;
const BATCH = 500;

export function authenticatorMetadataJob({
  sql,
  transact,
  outbound,
  config,
  now,
  log,
}: AuthenticatorMetadataDeps): Job {
  const { SVC_FIDO_METADATA_URL: url, SVC_FIDO_METADATA_FILE: file, SVC_FIDO_METADATA_ROOT_FILE: rootFile } = config;

  async function blob(): Promise<string> {
    if (file !== undefined) return (await readFile(file, 'utf8')).trim();
    if (url === undefined) throw new Error('there is neither an address nor a file');
    const { status, body } = await outbound.fetch(url, { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
    if (status !== 200) throw new Error(`${new URL(url).host} answered ${status}`);
    return body.toString().trim();
  }

  async function read(): Promise<Metadata> {
    if (rootFile === undefined)
      return readMetadata(await blob(), { roots: await metadataRoots(), service: SERVICE, now: now() });
    const roots = certificatesInPem(await readFile(rootFile, 'utf8'));
    return readMetadata(await blob(), { roots, service: undefined, now: now() });
  }

  /** @returns whether there may be more */
  const noteSome = (realm: string): Promise<boolean> =>
    transact(
      realm,
      async (tx) => {
        const noted = await store.noteStatuses(tx.sql, realm, BATCH);
        for (const { id, user_id: userId, username, aaguid, description, statuses } of noted) {
          if (statuses.length === 0) continue;
          const subject = userParty(userId, username);
          const data = { credentialId: id, aaguid, authenticator: description, statuses };
          tx.record({ type: 'AUTHENTICATOR_COMPROMISED', realm, by: bySystem, subject, data });
        }
        return noted.length === BATCH;
      },
      { bookkeeping: true },
    );

  return job({
    ...authenticatorMetadataTerms,
    async run(_, { signal }) {
      try {
        const found = await read();
        if (found.nextUpdate < now().toISOString().slice(0, 10))
          log.warn(
            { number: found.number, nextUpdate: found.nextUpdate },
            'FIDO’s metadata is older than it should be',
          );
        await metadata.replaceWith(sql, found);
      } catch (error) {
        log.error({ err: error }, `FIDO’s metadata was not refreshed, and the stored one stays: ${errorWords(error)}`);
      }
      for (const realm of await store.realmsToNote(sql))
        while (!signal.aborted && (await noteSome(realm))) await Promise.resolve();
    },
  });
}
