// The composition root's part for the realm document: its parts in order, import, export, managers and adoption.
// It decides nothing; each feature's part reads and writes its own. Decisions "Import, export, plan".
import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import { type PresentKey, presentSections } from './contract/sections.ts';
import type { Seal } from './crypto/seal.ts';
import type { RealmSql } from './db/realm-share.ts';
import type { Sql } from './db/sql.ts';
import type { Transact } from './db/transact.ts';
import { serviceAccountRolesPart } from './features/configuration/clients/service-accounts.ts';
import { createFlowsPart } from './features/configuration/flows/part.ts';
import type { AuthenticatorEntry } from './features/configuration/flows/tree.ts';
import type { Realms } from './features/configuration/realms/service.ts';
import { createResourceIndicatorsPart, createSettingsPart } from './features/configuration/settings/part.ts';
import { userProfilePart } from './features/configuration/user-profile/part.ts';
import { createDefaults } from './features/operations/transfer/defaults.ts';
import { createExport } from './features/operations/transfer/export.ts';
import { createGuesses } from './features/operations/transfer/guesses.ts';
import { createHistory } from './features/operations/transfer/history.ts';
import { historyRoutes } from './features/operations/transfer/history-routes.ts';
import { keycloakRoutes } from './features/operations/transfer/keycloak/routes.ts';
import { createKeycloakImport } from './features/operations/transfer/keycloak/service.ts';
import { createManagers } from './features/operations/transfer/managers.ts';
import { createManagersMove } from './features/operations/transfer/move.ts';
import { transferRoutes } from './features/operations/transfer/routes.ts';
import { createTransfer, type TransferDeps } from './features/operations/transfer/service.ts';
import { createUserImport } from './features/operations/transfer/user-import.ts';
import { userImportRoutes } from './features/operations/transfer/user-import-routes.ts';
import type { Credentials } from './features/people/credentials/service.ts';
import { createUserMerge } from './features/people/users/merge.ts';
import { createUserTransfer } from './features/people/users/transfer.ts';
import type { RealmPart } from './resource/part.ts';
import type { Resources } from './resources.ts';

export interface RealmDocumentDeps
  extends Pick<TransferDeps, 'denied' | 'bulkFailed' | 'documentEnvironment' | 'reservedManagers'> {
  sql: Sql;
  realmSql: RealmSql;
  transact: Transact;
  pool: pg.Pool;
  databaseUrl: string;
  seal: Seal;
  credentials: Pick<Credentials, 'passwordsChanged' | 'newPasswordFaults' | 'hashPassword'>;
  registry: readonly AuthenticatorEntry[];
  resources: Resources;
  realms: Pick<Realms, 'seedInto' | 'renameMakers'>;
  baseUrl: string;
  now: () => Date;
  newId: () => string;
}

/** The part of each section, in the table's order: what an object names comes before it. */
export function createParts({
  baseUrl,
  registry,
  resources,
  newId,
}: Pick<RealmDocumentDeps, 'baseUrl' | 'registry' | 'resources' | 'newId'>): RealmPart[] {
  const parts: Record<Exclude<PresentKey, 'users'>, RealmPart> = {
    realm: createSettingsPart({ baseUrl }),
    resourceIndicators: createResourceIndicatorsPart({ baseUrl }),
    flows: createFlowsPart({ registry, newId }),
    serviceAccountRoles: serviceAccountRolesPart,
    userProfile: userProfilePart,
    ...resources,
  };
  const found = new Map<string, RealmPart>(Object.entries(parts));
  return [...presentSections.keys()].flatMap((key) => found.get(key) ?? []);
}

export function createRealmDocument(deps: RealmDocumentDeps) {
  const { sql, transact, pool, databaseUrl, seal, credentials, realms, now, newId } = deps;
  const { realmSql, denied, bulkFailed, documentEnvironment, reservedManagers } = deps;
  const parts = createParts(deps);
  const users = createUserTransfer({ databaseUrl, seal, newId });
  const transfer = createTransfer({
    sql,
    transact,
    parts,
    users,
    mergeUsers: createUserMerge(credentials),
    realms,
    documentEnvironment,
    reservedManagers,
    guesses: createGuesses({ realmSql, seal, now }),
    denied,
    bulkFailed,
    now,
    newId,
  });
  const defaults = createDefaults({ transact, parts, realms, newId });
  const exporter = createExport({ pool, parts, users, defaults });
  const managers = createManagers({ sql, transact });
  const { applyPlan, alone } = transfer;
  const history = createHistory({ sql, transact, parts, applyPlan, alone, reservedManagers, now });
  const move = createManagersMove({ sql, transact, realms });
  return {
    parts,
    mount(admin: FastifyInstance): void {
      transferRoutes(admin, { transfer, managers, move, exporter, parts });
      historyRoutes(admin, history);
      keycloakRoutes(admin, createKeycloakImport({ transfer, parts, sql }));
      userImportRoutes(admin, createUserImport({ transfer, credentials }));
    },
  };
}
