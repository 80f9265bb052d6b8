// The job that fetches SAML clients' metadata again from its address. Metadata that can't be fetched, isn't signed by the
// trusted key, or doesn't fit changes nothing and is audited once. Repeating the job is safe: it writes the present
// metadata.
import type { Logger } from 'pino';
import { bySystem } from '../../../contract/events.ts';
import { Problem } from '../../../contract/problem.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import type { Outbound } from '../../../http/outbound.ts';
import { type Job, job } from '../../../jobs/job.ts';
import { createResourceApi } from '../../../resource/api.ts';
import { callerOf } from '../../../resource/nobody.ts';
import type { Fields } from '../../../resource/part.ts';
import type { Resource } from '../../../resource/resource.ts';
import { createFetch } from './fetch.ts';
import { mustBeValid } from './import.ts';
import { readMetadata } from './metadata.ts';
import { metadataTerms } from './refresh-job.ts';

const EVERY_MS = 60 * 60_000;
const MOST = 200;

interface Due {
  realm: string;
  id: string;
  entityId: string;
  url: string;
  certificate: string | null;
  error: string | null;
}

export interface MetadataRefreshDeps {
  sql: Sql;
  transact: Transact;
  outbound: Pick<Outbound, 'fetch'>;
  of: Resource;
  now: () => Date;
  newId: () => string;
  log: Pick<Logger, 'error'>;
}

/** A refresh must not loosen the signature rule, nor change the format of users' names. */
function withoutLoosening({ nameIdFormat: _, requireSignedRequests, ...fields }: Fields): Fields {
  return { ...fields, ...(requireSignedRequests === true && { requireSignedRequests }) };
}

export function samlMetadataRefresh({ sql, transact, outbound, of, now, newId, log }: MetadataRefreshDeps): Job {
  const fetched = createFetch(outbound);
  /** Due clients, without those that a manager declares: the manager would revert each refresh, and so on for ever. */
  const due = () => sql<Due>`
    select c.realm_id as realm, c.id, c.entity_id as "entityId", c.metadata_url as url, c.metadata_certificate as certificate,
      c.metadata_error as error
    from saml_client c
    where c.metadata_url is not null and c.enabled
      and (c.metadata_tried_at is null or c.metadata_tried_at < ${new Date(now().getTime() - EVERY_MS)})
      and not exists (
        select from managed_object o where o.realm_id = c.realm_id and o.kind = ${of.kind} and o.key = c.entity_id)
    order by c.metadata_tried_at nulls first limit ${MOST}`;

  async function readOf({ entityId, url, certificate }: Due): Promise<Fields | string> {
    try {
      const read = readMetadata(await fetched(url), { path: 'metadataUrl', entityId, certificate, now: now() });
      mustBeValid('metadataUrl', { entityId, ...read.fields });
      return withoutLoosening(read.fields);
    } catch (error) {
      return faultIn(error);
    }
  }

  async function writtenBy(tx: Tx, { realm, id }: Due, fields: Fields): Promise<string | null> {
    const api = createResourceApi({
      sql: tx.sql,
      transact: (_, work) => work(tx),
      parts: [of],
      newId,
      written: 'byServer',
    });
    try {
      await api.replace(of, callerOf(bySystem), realm, { id }, fields);
      return null;
    } catch (error) {
      return faultIn(error);
    }
  }

  async function refresh(one: Due): Promise<void> {
    const { realm, id, entityId } = one;
    const read = await readOf(one);
    await transact(
      realm,
      async (tx) => {
        const error = typeof read === 'string' ? read : await writtenBy(tx, one, read);
        await tx.sql`
          update saml_client set metadata_tried_at = ${now()}, metadata_error = ${error}
          where realm_id = ${realm} and id = ${id}`;
        if (error === null || error === one.error) return;
        const subject = { type: 'object', id, name: entityId } as const;
        const data = { entityId, reason: error };
        tx.record({ type: 'SAML_METADATA_REFUSED', realm, by: bySystem, subject, outcome: 'failure', data });
      },
      { bookkeeping: true },
    );
  }

  /** Postpones the client after a fault of this server, so that other clients don't wait for it. */
  async function putOff({ realm, id, entityId }: Due, error: unknown): Promise<void> {
    log.error(
      { err: error },
      `the metadata of the SAML client ${entityId} of the realm ${realm} could not be fetched again`,
    );
    await transact(
      realm,
      (tx) => tx.sql`update saml_client set metadata_tried_at = ${now()} where realm_id = ${realm} and id = ${id}`,
      { bookkeeping: true },
    );
  }

  return job({
    ...metadataTerms,
    async run(_, { signal }) {
      for (const one of await due()) {
        if (signal.aborted) return;
        await refresh(one).catch((error: unknown) => putOff(one, error));
      }
    },
  });
}

/** The fault as text. @throws faults of this server */
function faultIn(error: unknown): string {
  if (!(error instanceof Problem)) throw error;
  const said = error.errors?.map(({ message }) => message).join('; ') ?? error.message;
  return said.slice(0, 500);
}
