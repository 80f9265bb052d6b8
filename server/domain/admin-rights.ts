// What features ask of administrators' rights beyond a route's permission; features/operations/admin-access answers. Nobody gives
// rights, or takes over what has them, without having them. Decisions "Rights".
import type { Sql } from '../db/sql.ts';
import type { Principal } from './principal.ts';

/** What has rights, or gives them. */
export interface Target {
  userId?: string;
  userIds?: readonly string[];
  clientUuid?: string;
  /** Names of admin roles of the realm, to be given over that realm. */
  adminRoles?: readonly string[];
}

/** Who made something that is good as long as they may make it. */
export interface Maker {
  type: 'user' | 'client' | 'agent';
  /** Home realm. */
  realm: string;
  id: string;
}

export interface AdminRights {
  /** Whether the principal holds all that the target holds. @param on a transaction's `sql`, inside of one */
  covers(principal: Principal, realm: string, target: Target, on?: Sql): Promise<boolean>;
  /** Whether who made something about a person could make it now: they write users still, and hold all that the person holds. */
  stillMay(maker: Maker, realm: string, userId: string, on: Sql): Promise<boolean>;
}
