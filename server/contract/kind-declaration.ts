// The declaration of a kind; kind.ts makes the kind out of it.
import type { z } from 'zod';
import type { Applies, Cli, Form } from './kind-shown.ts';
import type { ProblemCode } from './problem.ts';
import type { Described } from './resource.ts';
import type { Section as SectionEntry } from './section.ts';

export type Shape = Readonly<Record<string, z.ZodType>>;
export type In<S extends Shape> = { [Field in keyof S]?: z.input<S[Field]> | undefined };
export type Nullable<S extends Shape> = { [Field in keyof S]?: z.input<S[Field]> | null | undefined };

/** The fields that name an object in a POST: the natural key, or those from which it follows. */
export type Naming<Key, Fields extends Shape, Named> = Named extends Shape
  ? z.input<z.ZodObject<Named>>
  : { [Field in Key & keyof Fields]: z.input<Fields[Field]> };
export type InNamed<Named> = Named extends Shape ? In<Named> : unknown;

export type OfClient = Pick<SectionEntry, 'shape' | 'groups'> & { path: string };
/** Where custom resources contain the kind: in a Realm, or as a kind of its own. */
export type ResourceKind = 'Realm' | 'Webhook' | 'WorkloadIdentity';

export interface Declaration<
  Section,
  Kind,
  Key,
  Fields extends Shape,
  Secrets extends Shape,
  Asked extends Shape,
  Answered extends Shape,
  InDocument extends Shape,
  At,
  Resource,
  Of,
  Named,
> {
  /**
   * The section's key in the realm document, and the name of this constant: `scimTargets`. Path and permission follow:
   * `scim-targets`.
   */
  section: Section;
  /** The name of one object in plans and managers' lists: `scimTarget`. Events follow: `SCIM_TARGET_CREATED`. */
  kind: Kind;
  /** The area of its permissions, if it belongs to another section. `npm run generate` reads it from the file's text. */
  area?: string;
  /** Set if each object belongs to a client: its path below the client's, and how the section names the client. */
  ofClient?: Of;
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
  fields: Fields;
  key: Key;
  /** The path parameter that names an object: the natural key, or another name than `id` for the id. */
  at?: At;
  /** Fields that a new object must have, besides the key. */
  needed?: readonly (keyof Fields & string)[];
  /**
   * POST and PUT must contain every field, because they replace the object. Absent: fields that a PUT omits keep their
   * values.
   */
  whole?: true;
  /**
   * The values of fields that a new object omits. Default: null if the field can be null, an empty list, an empty map.
   * A field of {@link needed} has none.
   */
  fresh?: In<NoInfer<Fields>>;
  /** Fields with natural keys of other kinds, and that kind: `flowOverride: 'flow'`. The named objects must exist. */
  names?: { readonly [Field in keyof NoInfer<Fields & Named>]?: string };
  /**
   * Write-only fields, encrypted in the database: responses show null and `<field>Set`, a Realm resource has a
   * reference.
   */
  secrets?: Secrets;
  /** Fields of requests from which the natural key follows, so that requests don't have it: a group's name and parent. */
  namedBy?: Named;
  /** Fields only of requests, or with another form in requests. */
  asked?: Asked;
  /** Fields only of responses, or with another form in responses; `createdAt` is a column that is written once. */
  answered?: Answered;
  /** Fields only of documents. */
  inDocument?: InDocument;
  /** Fields with usernames: run-time data, so absent from custom resources, and exported only with users. */
  people?: readonly ((keyof Fields | keyof InDocument) & string)[];
  /** The most objects in one document. */
  most: number;
  /** The most objects of one client. */
  mostOfEach?: number;
  /** The most objects in a Realm resource, if it accepts fewer. */
  mostInResource?: number;
  /** The kind of custom resource for a single object; absent: the objects are a field of the Realm resource. */
  resource?: Resource;
  namedLists?: SectionEntry['namedLists'];
  placeholders?: readonly string[];
  /** Problems of a write in addition to those of every kind. */
  problems?: readonly ProblemCode[];
  /** Fields in which `q` searches. */
  searches?: readonly (keyof Fields & string)[];
  describe?: Described<unknown, unknown>['describe'];
  reach?: Described<unknown, unknown>['reach'];
  /**
   * Example bodies that a fresh realm accepts. The second one changes each field, both from the first one and from the
   * default.
   */
  example: Naming<Key, NoInfer<Fields>, NoInfer<Named>> & In<NoInfer<Fields>> & Nullable<NoInfer<Secrets>>;
  updateExample: In<NoInfer<Fields>> & Nullable<NoInfer<Secrets>> & InNamed<NoInfer<Named>>;
  cli?: Cli;
  form?: Form;
  applies?: Applies;
}
