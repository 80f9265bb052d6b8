// What same-by-both-ways.test.ts needs to know of a kind.
import type { Route } from '../../../server/contract/route.ts';

/** The realm that the admin API changes. */
export const API = 'by-api';

export interface Sample {
  section: string;
  table: string;
  key: string;
  routes: { create: Route; put: Route; remove: Route; list: Route };
  /** What every object of the kind must have. */
  needed: Record<string, unknown>;
  /** A value for each field that isn't the plainest one. */
  fields: Record<string, unknown>;
  /** Columns that are different each time, by nature. */
  random?: readonly string[];
  /** The natural key's column, where it has another name. */
  column?: string;
  /** Of the fields, where all of them together need others. */
  whole?: Record<string, unknown>;
  /** Further fields that an object needs with a field of `fields`. */
  beside?: Readonly<Record<string, Record<string, unknown>>>;
  /** What other tables hold of the row `t`. */
  links?: string;
  /** The natural key of the object with this name. */
  keyOf?(name: string): string;
  /** What the admin API takes of an object. */
  body?(object: Record<string, unknown>): Record<string, unknown>;
  /** They lie below the client `app` there. */
  ofClient?: boolean;
  /** The parameters of the path of one object, where it lies there by its natural key. */
  at?(name: string): Record<string, string>;
  /** The section that holds these objects. */
  sectionOf?(objects: readonly object[]): unknown;
}
