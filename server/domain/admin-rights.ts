// Questions of features about an administrator's rights beyond a route's permission; features/operations/admin-access answers them. To
// give rights, or to take over an object that has rights, an administrator must hold those rights. Decisions "Rights".
import type { Sql } from '../db/sql.ts';
import type { Principal } from './principal.ts';

/** An object that has rights, or gives them. */
export interface Target {
  userId?: string;
  userIds?: readonly string[];
  clientUuid?: string;
  /** Names of the realm's admin roles, given over this realm. */
  adminRoles?: readonly string[];
}

/** The administrator who made an object that is valid only while they may make one. */
export interface Maker {
  type: 'user' | 'client' | 'agent';
  /** Home realm. */
  realm: string;
  id: string;
}

export interface AdminRights {
  /** Whether the principal holds all rights that the target has. @param on a transaction's `sql`, if one is open */
  covers(principal: Principal, realm: string, target: Target, on?: Sql): Promise<boolean>;
  /** Whether the maker of an object about a user could make it now: they may still write users, and hold all rights of that user. */
  stillMay(maker: Maker, realm: string, userId: string, on: Sql): Promise<boolean>;
}
