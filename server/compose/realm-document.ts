// The composition root's part for the realm document: its parts in order, import, export, managers and adoption. It
// decides nothing; each feature's part reads and writes its own objects. Decisions "Import, export, plan".
import type { FastifyInstance } from 'fastify';
import { type PresentKey, presentSections } from '../contract/sections.ts';
import { serviceAccountRolesPart } from '../features/configuration/clients/service-accounts.ts';
import { createFlowsPart } from '../features/configuration/flows/part.ts';
import { createResourceIndicatorsPart, createSettingsPart } from '../features/configuration/settings/part.ts';
import { userProfilePart } from '../features/configuration/user-profile/part.ts';
import { createDefaults } from '../features/operations/transfer/defaults.ts';
import { createExport } from '../features/operations/transfer/export.ts';
import { createGuesses } from '../features/operations/transfer/guesses.ts';
import { createHistory } from '../features/operations/transfer/history.ts';
import { historyRoutes } from '../features/operations/transfer/history-routes.ts';
import { keycloakRoutes } from '../features/operations/transfer/keycloak/routes.ts';
import { createKeycloakImport } from '../features/operations/transfer/keycloak/service.ts';
import { createManagers } from '../features/operations/transfer/managers.ts';
import { createManagersMove } from '../features/operations/transfer/move.ts';
import { transferRoutes } from '../features/operations/transfer/routes.ts';
import { createTransfer } from '../features/operations/transfer/service.ts';
import { createUserImport } from '../features/operations/transfer/user-import.ts';
import { userImportRoutes } from '../features/operations/transfer/user-import-routes.ts';
import { createUserTransfer } from '../features/people/users/transfer.ts';
import type { RealmPart } from '../resource/part.ts';
import type { Operations } from './operations.ts';

export type RealmDocumentDeps = Pick<Operations, 'baseUrl' | 'registry' | 'resources' | 'newId'> & {
  keys: Pick<Operations['keys'], 'prepare'>;
};

/** The part of each section, in the table's order: objects come after those that they name. */
export function createParts({ baseUrl, keys, registry, resources, newId }: RealmDocumentDeps): RealmPart[] {
  const parts: Record<Exclude<PresentKey, 'users'>, RealmPart> = {
    realm: createSettingsPart({ baseUrl, keys }),
    resourceIndicators: createResourceIndicatorsPart({ baseUrl }),
    flows: createFlowsPart({ registry, newId }),
    serviceAccountRoles: serviceAccountRolesPart,
    userProfile: userProfilePart,
    ...resources,
  };
  const found = new Map<string, RealmPart>(Object.entries(parts));
  return [...presentSections.keys()].flatMap((key) => found.get(key) ?? []);
}

export function createRealmDocument(deps: Operations) {
  const { config, log } = deps;
  const { documentEnvironment, SVC_RESERVED_MANAGERS: reservedManagers } = config;
  const parts = createParts(deps);
  const users = createUserTransfer(deps);
  const shared = { ...deps, parts, users, documentEnvironment, reservedManagers };
  const transfer = createTransfer({
    ...shared,
    guesses: createGuesses(deps),
    bulkFailed: (err) => log.info({ err }, 'an import could not be inserted in bulk, and was staged'),
  });
  const exporter = createExport({ ...shared, defaults: createDefaults(shared) });
  const { applyPlan, alone } = transfer;
  return {
    parts,
    mount(admin: FastifyInstance): void {
      transferRoutes(admin, {
        transfer,
        exporter,
        parts,
        managers: createManagers(shared),
        move: createManagersMove(deps),
      });
      historyRoutes(admin, createHistory({ ...shared, applyPlan, alone }));
      keycloakRoutes(admin, createKeycloakImport({ ...shared, transfer }));
      userImportRoutes(admin, createUserImport({ ...shared, transfer }));
    },
  };
}
