// Creates a SAML client from metadata that an administrator sends, or from an address; it is fetched before the
// transaction. Specification 4.10; decisions "SAML client".
import { type SamlClient, SamlClientInput, type SamlClientReading } from '../../../contract/saml-clients.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Outbound } from '../../../http/outbound.ts';
import type { Caller, ResourceApi } from '../../../resource/api.ts';
import { createdFields, differences } from '../../../resource/change.ts';
import { issuesAt } from '../../../resource/items.ts';
import type { Fields } from '../../../resource/part.ts';
import type { Resource } from '../../../resource/resource.ts';
import { isCertificate } from './certificates.ts';
import { createFetch } from './fetch.ts';
import { metadataProblem, type Read, readMetadata } from './metadata.ts';

export interface Wanted {
  entityId?: string | undefined;
  certificate?: string | undefined;
}

/** Checks metadata by the rules for administrators' input. @throws Problem `invalid-request` */
export function mustBeValid(path: string, input: Fields): void {
  const valid = SamlClientInput.safeParse(input);
  if (!valid.success)
    throw metadataProblem(
      ...issuesAt('', valid.error).map((fault) => ({ path, message: `${fault.path}: ${fault.message}` })),
    );
}

export interface SamlClientImportDeps {
  sql: Sql;
  api: ResourceApi;
  of: Resource;
  outbound: Pick<Outbound, 'fetch'>;
  now: () => Date;
}

export function createSamlClientImport({ sql, api, of, outbound, now }: SamlClientImportDeps) {
  const readAs = (path: string, { entityId, certificate }: Wanted) => {
    if (certificate !== undefined && !isCertificate(certificate))
      throw metadataProblem({ path: 'certificate', message: 'is no certificate' });
    return (source: string | Buffer) =>
      readMetadata(source, {
        path,
        now: now(),
        ...(entityId !== undefined && { entityId }),
        ...(certificate !== undefined && { certificate }),
      });
  };

  async function write(caller: Caller, realm: string, path: string, read: Read, more: Fields = {}) {
    const { entityId, name, fields } = read;
    mustBeValid(path, { entityId, ...(name !== undefined && { name }), ...fields });
    const there = await of.table.find(sql, realm, { key: entityId });
    const named = there || name === undefined ? {} : { name };
    const row = await api.upsert(of, caller, realm, { entityId, ...named, ...fields, ...more });
    return of.toWire(realm, row) as SamlClient;
  }

  const fetched = createFetch(outbound);

  /** What an import would write, by its own rules. */
  async function reading(realm: string, path: string, read: Read, more: Fields): Promise<SamlClientReading> {
    const { entityId, name, fields } = read;
    mustBeValid(path, { entityId, ...(name !== undefined && { name }), ...fields });
    const there = await of.table.find(sql, realm, { key: entityId });
    const named = there || name === undefined ? {} : { name };
    const wanted = of.fieldsOf({ ...named, ...fields, ...more });
    const changed = there ? differences(there.fields, wanted) : createdFields(wanted);
    const client = { entityId, ...wanted };
    return { entityId, exists: there !== undefined, client, changed: changed.map((one) => one.path) };
  }

  return {
    async dryRun(
      realm: string,
      {
        metadata,
        metadataUrl,
        ...wanted
      }: Wanted & { metadata?: string | undefined; metadataUrl?: string | undefined },
    ): Promise<SamlClientReading> {
      if (metadataUrl === undefined) return reading(realm, 'metadata', readAs('metadata', wanted)(metadata ?? ''), {});
      readAs('metadataUrl', wanted);
      const { certificate } = wanted;
      const read = readAs('metadataUrl', wanted)(await fetched(metadataUrl));
      const kept = certificate === undefined ? {} : { metadataCertificate: certificate };
      return reading(realm, 'metadataUrl', read, { metadataUrl, ...kept });
    },

    fromText: (caller: Caller, realm: string, { metadata, ...wanted }: Wanted & { metadata: string }) =>
      write(caller, realm, 'metadata', readAs('metadata', wanted)(metadata)),

    async fromUrl(caller: Caller, realm: string, { metadataUrl, ...wanted }: Wanted & { metadataUrl: string }) {
      const path = 'metadataUrl';
      readAs(path, wanted);
      const source = await fetched(metadataUrl);
      const read = readAs(path, wanted)(source);
      if (wanted.certificate !== undefined)
        return write(caller, realm, path, read, { metadataUrl, metadataCertificate: wanted.certificate });
      const kept = (await of.table.find(sql, realm, { key: read.entityId }))?.fields.metadataCertificate;
      const { entityId } = read;
      const trusted = typeof kept === 'string' ? readAs(path, { entityId, certificate: kept })(source) : read;
      return write(caller, realm, path, trusted, { metadataUrl });
    },
  };
}
export type SamlClientImport = ReturnType<typeof createSamlClientImport>;
