// The declaration of a kind, and the types that follow from one; kind.ts makes the kind out of it.
import type { z } from 'zod';
import type { Applies, Cli, Form } from './kind-shown.ts';
import type { ProblemCode } from './problem.ts';
import type { Described } from './resource.ts';
import type { Section as SectionEntry } from './section.ts';

export type Shape = Readonly<Record<string, z.ZodType>>;
export type In<S extends Shape> = { -readonly [Field in keyof S]?: z.input<S[Field]> | undefined };
export type Nullable<S extends Shape> = { -readonly [Field in keyof S]?: z.input<S[Field]> | null | undefined };
export type Needed<S extends Shape> = { -readonly [Field in keyof S]: z.input<S[Field]> };
export type Anything = Readonly<Record<string, unknown>>;

export type OfClient = Pick<SectionEntry, 'shape' | 'groups'> & { path: string };
/** Where custom resources contain the kind: in a Realm, or as a kind of its own. */
export type ResourceKind = 'Realm' | 'Webhook' | 'WorkloadIdentity';

export interface Declaration {
  /**
   * The section's key in the realm document, and the name of this constant: `scimTargets`. Path and permission follow:
   * `scim-targets`.
   */
  section: string;
  /** The name of one object in plans and managers' lists: `scimTarget`. Events follow: `SCIM_TARGET_CREATED`. */
  kind: string;
  /** The area of its permissions, if it belongs to another section. `npm run generate` reads it from the file's text. */
  area?: string;
  /** Set if each object belongs to a client: its path below the client's, and how the section names the client. */
  ofClient?: OfClient;
  /** The table's name; default: the kind. */
  table?: string;
  /** The name of one object in a sentence, and of several: `a SCIM target`, `SCIM targets`. */
  one: string;
  many: string;
  /** The name of one object in plans; default: `one` without its article. */
  label?: string;
  /** The description of the Realm resource's field, and of the kind in `realmctl`. */
  description: string;
  /** All fields, including the natural key. */
  fields: Shape;
  /**
   * The natural key: a field, or several in the order of their places in a path. Requests create and change an object of
   * several by PUT on the list.
   */
  key: string | readonly string[];
  /** The path below the realm, if it isn't the section's name. */
  path?: string;
  /** The path parameter that names an object: the natural key, or another name than `id` for the id. */
  at?: string;
  /** Fields that a new object must have, besides the key. */
  needed?: readonly string[];
  /**
   * POST and PUT must contain every field, because they replace the object. Absent: fields that a PUT omits keep their
   * values.
   */
  whole?: true;
  /**
   * The values of fields that a new object omits. Default: null if the field can be null, an empty list, an empty map.
   * A field of {@link needed} has none.
   */
  fresh?: Anything;
  /** Fields with natural keys of other kinds, and that kind: `flowOverride: 'flow'`. The named objects must exist. */
  names?: Readonly<Record<string, string>>;
  /**
   * Write-only fields, encrypted in the database: responses show null and `<field>Set`, a Realm resource has a
   * reference.
   */
  secrets?: Shape;
  /** Fields of requests from which the natural key follows, so that requests don't have it: a group's name and parent. */
  namedBy?: Shape;
  /** Fields only of requests, or with another form in requests. */
  asked?: Shape;
  /** Fields only of responses, or with another form in responses; `createdAt` is a column that is written once. */
  answered?: Shape;
  /** Fields only of documents. */
  inDocument?: Shape;
  /** Fields with usernames: run-time data, so absent from custom resources, and exported only with users. */
  people?: readonly string[];
  /** The most objects in one document. */
  most: number;
  /** The most objects of one client. */
  mostOfEach?: number;
  /** The most objects in a Realm resource, if it accepts fewer. */
  mostInResource?: number;
  /** The kind of custom resource for a single object; absent: the objects are a field of the Realm resource. */
  resource?: ResourceKind;
  namedLists?: SectionEntry['namedLists'];
  placeholders?: readonly string[];
  /** Problems of a write in addition to those of every kind. */
  problems?: readonly ProblemCode[];
  /** Fields in which `q` searches. */
  searches?: readonly string[];
  describe?: Described<unknown, unknown>['describe'];
  reach?: Described<unknown, unknown>['reach'];
  /**
   * Example bodies that a fresh realm accepts. The second one changes each field, both from the first one and from the
   * default.
   */
  example: Anything;
  updateExample: Anything;
  cli?: Cli;
  form?: Form;
  applies?: Applies;
}

/** The fields of a part that the declaration may lack. */
export type PartOf<D extends Declaration, Part extends keyof Declaration> = D extends {
  readonly [_ in Part]: infer Fields extends Shape;
}
  ? Fields
  : Record<never, never>;
/** The fields of the natural key. */
export type KeyOf<D extends Declaration> = D['key'] extends readonly (infer Field extends string)[]
  ? Field
  : D['key'] & string;
/** The fields that name an object in a request: the natural key, or those from which it follows. */
export type Naming<D extends Declaration> = D extends { namedBy: infer Fields extends Shape }
  ? z.input<z.ZodObject<Fields>>
  : Needed<Omit<Pick<D['fields'], KeyOf<D> & keyof D['fields']>, keyof PartOf<D, 'asked'>>>;

type Fault<Given, Allowed> = { readonly [Field in Exclude<keyof Given, keyof Allowed>]?: never };
type Only<Given, Allowed> = Allowed & Fault<Given, Allowed>;
type Name<Of> = keyof Of & string;

/** The compiler’s checks of a declaration: it names its own fields, and gives them values that their schemas accept. */
export type Checked<D extends Declaration> = Fault<D, Declaration> & {
  key: Name<D['fields']> | readonly Name<D['fields']>[];
  needed?: readonly Name<D['fields']>[];
  fresh?: Only<D['fresh'], In<D['fields']>>;
  names?: Only<D['names'], { readonly [Field in keyof (D['fields'] & PartOf<D, 'namedBy'>)]?: string }>;
  people?: readonly Name<D['fields'] & PartOf<D, 'inDocument'>>[];
  searches?: readonly Name<D['fields']>[];
  example: Only<D['example'], Naming<D> & In<D['fields']> & Nullable<PartOf<D, 'secrets'>>>;
  updateExample: Only<D['updateExample'], In<D['fields']> & Nullable<PartOf<D, 'secrets'>> & In<PartOf<D, 'namedBy'>>>;
};
