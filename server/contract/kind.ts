// A plain kind of resource as one declaration: its responses and requests, its routes, its section of the realm
// document, its field of the Realm resource, its columns in the database and in `realmctl` follow from its fields. `npm
// run generate` finds the declaration and lists it (declared-kinds.ts, declared-names.ts). Its feature has the rules
// (server/features/<group>/<section>/resource.ts).
import { z } from 'zod';
import { separateWords } from './apart.ts';
import type { Cli, Form } from './kind-shown.ts';
import { type ManagedBy, managedBy } from './managed-by.ts';
import { Id, InClient, InRealm } from './names.ts';
import type { Area } from './permissions.ts';
import type { ProblemCode } from './problem.ts';
import { type Described, type ResourceRoutes, resourceRoutes } from './resource.ts';
import type { Section as SectionEntry } from './section.ts';

type Shape = Readonly<Record<string, z.ZodType>>;
type In<S extends Shape> = { [Field in keyof S]?: z.input<S[Field]> | undefined };
type Out<S extends Shape> = { [Field in keyof S]: z.output<S[Field]> };
type Nullable<S extends Shape> = { [Field in keyof S]?: z.input<S[Field]> | null | undefined };
type Mutable<S extends Shape> = { -readonly [Field in keyof S]: S[Field] };

/** Where custom resources contain the kind: in a Realm, or as a kind of its own. */
type ResourceKind = 'Realm' | 'Webhook' | 'WorkloadIdentity';

interface Declared<
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
  names?: { readonly [Field in keyof NoInfer<Fields>]?: string };
  /**
   * Write-only fields, encrypted in the database: responses show null and `<field>Set`, a Realm resource has a
   * reference.
   */
  secrets?: Secrets;
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
  example: { [Field in Key & keyof Fields]: z.input<Fields[Field]> } & In<NoInfer<Fields>> & Nullable<NoInfer<Secrets>>;
  updateExample: In<NoInfer<Fields>> & Nullable<NoInfer<Secrets>>;
  cli?: Cli;
  form?: Form;
}

type WireShape<Fields extends Shape, Secrets extends Shape, Answered extends Shape> = {
  id: typeof Id;
} & Mutable<Omit<Fields, keyof Answered>> & { [Field in keyof Secrets & string as `${Field}Set`]: z.ZodBoolean } & {
    [Field in keyof Secrets]: z.ZodNull;
  } & Mutable<Answered & typeof managedBy>;
type Wire<Fields extends Shape, Secrets extends Shape, Answered extends Shape> = { id: string } & Omit<
  Out<Fields>,
  keyof Answered
> & { [Field in keyof Secrets & string as `${Field}Set`]: boolean } & {
    [Field in keyof Secrets]: null;
  } & Out<Answered> & { managedBy?: ManagedBy | undefined };
/** Fields of a response that a PUT may send back: they are ignored. */
type ReadOnly<Secrets extends Shape, Answered extends Shape> = { id?: string | undefined } & In<typeof managedBy> & {
    [Field in keyof Secrets & string as `${Field}Set`]?: boolean | undefined;
  } & In<Answered>;

type Params<Name extends string> = z.ZodType<Record<'realm' | Name, string>, Record<'realm' | Name, string>>;
type OfClient = Pick<SectionEntry, 'shape' | 'groups'> & { path: string };
/** The path parameter for the client. */
type Within<Of> = Of extends OfClient ? 'clientId' : never;

/** The body of POST. */
type Taken<Key, Fields extends Shape, Secrets extends Shape, Asked extends Shape> = {
  [Field in Key & keyof Fields]: z.input<Fields[Field]>;
} & In<Omit<Fields, Key & keyof Fields>> &
  Nullable<Secrets> &
  In<Asked>;
type Element<Key, Fields extends Shape, Secrets extends Shape, InDocument extends Shape> = {
  [Field in Key & keyof Fields]: z.input<Fields[Field]>;
} & In<Omit<Fields, Key & keyof Fields>> &
  In<Secrets> &
  In<InDocument>;

type Anything = Record<string, unknown>;

type OfEntry = 'label' | 'most' | 'mostOfEach' | 'shape' | 'groups' | 'namedLists' | 'people' | 'placeholders';

/** Any kind; {@link TypedKind} adds the types of one. */
export interface KindOf {
  section: string;
  kind: string;
  table: string;
  /** Whether each object belongs to a client. */
  ofClient: boolean;
  /** The name of one object in a sentence, and of several: `a client`, `clients`. */
  one: string;
  many: string;
  description: string;
  fields: Shape;
  searches: readonly string[];
  needed: readonly string[];
  /** The default of each field that a new object can omit. */
  fresh: Readonly<Record<string, unknown>>;
  names: Readonly<Record<string, string>>;
  /** Lists of words whose order has no meaning: they are stored as sets. */
  sets: readonly string[];
  /** The path parameter that names an object. */
  at: string;
  cli: Cli;
  form?: Form | undefined;
  wire: z.ZodObject;
  /** The body of POST. */
  input: z.ZodType;
  routes: ResourceRoutes<
    z.ZodType,
    z.ZodType<Anything>,
    z.ZodType<unknown, Anything>,
    z.ZodType<unknown, Anything>,
    z.ZodType
  >;
  /** The kind's entry in the table of sections, without its names. */
  entry: Pick<SectionEntry, OfEntry> & {
    key: string;
    element: z.ZodType;
    secrets: readonly string[];
    resource: { kind: ResourceKind; description: string; most?: number };
  };
}

/** One kind, with its own types. */
interface TypedKind<
  Section,
  Kind,
  Key,
  Fields extends Shape,
  Secrets extends Shape,
  Asked extends Shape,
  Answered extends Shape,
  InDocument extends Shape,
  At extends string,
  Resource extends ResourceKind,
  Of,
> extends KindOf {
  section: Section & string;
  kind: Kind & string;
  at: At;
  fields: Fields;
  wire: z.ZodObject<WireShape<Fields, Secrets, Answered>>;
  input: z.ZodType<Taken<Key, Fields, Secrets, Asked>, Taken<Key, Fields, Secrets, Asked>>;
  routes: ResourceRoutes<
    Params<At | Within<Of>>,
    z.ZodType<Wire<Fields, Secrets, Answered>>,
    z.ZodType<unknown, Taken<Key, Fields, Secrets, Asked>>,
    z.ZodType<unknown, In<Fields> & ReadOnly<Secrets, Omit<Answered, keyof Fields>> & Nullable<Secrets> & In<Asked>>,
    Params<Within<Of>>
  >;
  entry: Omit<KindOf['entry'], 'key' | 'element' | 'secrets' | 'resource' | 'shape' | 'groups'> & {
    key: Key & string;
    element: z.ZodType<Element<Key, Fields, Secrets, InDocument>>;
    secrets: readonly (keyof Secrets & string)[];
    resource: { kind: Resource; description: string; most?: number };
  } & (Of extends OfClient ? Omit<Of, 'path'> : unknown);
}

/** The response with one object. */
export type AnswerOf<Of extends { routes: { get: { response: z.ZodType } } }> = z.output<
  Of['routes']['get']['response']
>;
/** The body of a request that creates an object. */
export type InputOf<Of extends { routes: { create: { body: z.ZodType } } }> = z.input<Of['routes']['create']['body']>;

/** `scimTarget` → `ScimTarget` */
const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** The schema without null and absence. */
export const presentSchema = (schema: z.ZodType): z.ZodType =>
  schema instanceof z.ZodNullable || schema instanceof z.ZodOptional
    ? presentSchema(schema.unwrap() as z.ZodType)
    : schema;
/** Whether the schema is a text, or a choice of texts. */
export const isText = (schema: z.ZodType): boolean => {
  const of = presentSchema(schema);
  return of instanceof z.ZodString || of instanceof z.ZodStringFormat || of instanceof z.ZodEnum;
};
export const isListOfTexts = (schema: z.ZodType): boolean => {
  const of = presentSchema(schema);
  return of instanceof z.ZodArray && isText(of.element as z.ZodType);
};

/** The default of a field that the request omits, by the field's schema. */
function freshOf(schema: z.ZodType): unknown {
  if (schema instanceof z.ZodNullable) return null;
  if (schema instanceof z.ZodArray) return [];
  return schema instanceof z.ZodRecord ? {} : undefined;
}

export function kind<
  const Section extends string,
  const Kind extends string,
  Fields extends Shape,
  const Key extends keyof Fields & string,
  Secrets extends Shape = Record<never, never>,
  Asked extends Shape = Record<never, never>,
  Answered extends Shape = Record<never, never>,
  InDocument extends Shape = Record<never, never>,
  const At extends string = 'id',
  const Resource extends ResourceKind = 'Realm',
  const Of extends OfClient | undefined = undefined,
>(
  declared: Declared<Section, Kind, Key, Fields, Secrets, Asked, Answered, InDocument, At, Resource, Of>,
): TypedKind<Section, Kind, Key, Fields, Secrets, Asked, Answered, InDocument, At, Resource, Of>;
export function kind(
  declared: Declared<
    string,
    string,
    string,
    Shape,
    Shape,
    Shape,
    Shape,
    Shape,
    string,
    ResourceKind,
    OfClient | undefined
  >,
): KindOf {
  const {
    section,
    key,
    at = 'id',
    one,
    many,
    description,
    searches = [],
    needed = [],
    whole = false,
    most,
    mostInResource,
  } = declared;
  const { fields, secrets = {}, asked = {}, answered = {}, inDocument = {}, names = {}, cli = {} } = declared;
  const { label = one.replace(/^an? /, ''), area = separateWords(section, '-') } = declared;
  const { table = separateWords(declared.kind, '_'), ofClient, mostOfEach } = declared;
  const { namedLists, people, placeholders } = declared;
  const isSet = each(secrets, (_, field) => [`${field}Set`, z.boolean()]);
  const nullable = each(secrets, (schema, field) => [field, schema.nullable()]);
  const hidden = each(secrets, (_, field) => [field, z.null().describe('Write-only')]);
  const { realmId } = answered;
  const readOnly = { ...isSet, ...answered, ...managedBy };
  const wire = z
    .object({ id: Id, ...(realmId && { realmId }), ...fields, ...hidden, ...readOnly })
    .meta({ id: capital(declared.kind) });
  const all = Object.keys(fields);
  const input = z.strictObject(optional({ ...fields, ...nullable, ...asked }, whole ? all : [key, ...needed]));
  const within = ofClient ? InClient : InRealm;
  const routes = resourceRoutes({
    path: ofClient ? `clients/:clientId/${ofClient.path}` : separateWords(section, '-'),
    ...(ofClient && { tag: area }),
    // the areas follow from all kinds, including this one
    area: area as Area,
    one,
    many,
    searches: searches.length > 0,
    wire,
    input,
    // PUT accepts the response of GET; an omitted field keeps its value, the secret too
    update: z.strictObject(
      optional({ ...fields, ...nullable, id: Id, ...readOnly, ...fields, ...asked }, whole ? all : []),
    ),
    within: within as z.ZodType as Params<string>,
    // a natural key is a text
    at: {
      param: at,
      schema: within.extend({
        [at]: fields[at] ?? (at === 'id' ? Id : Id.describe(`The ${label}’s id`)),
      }) as z.ZodType as Params<string>,
    },
    example: declared.example,
    updateExample: declared.updateExample,
    ...(declared.problems && { problems: declared.problems }),
    ...(declared.describe && { describe: declared.describe }),
    ...(declared.reach && { reach: declared.reach }),
  });
  const unsaid = Object.entries(fields).filter(([field]) => field !== key && !needed.includes(field));
  return {
    section,
    kind: declared.kind,
    table,
    ofClient: ofClient !== undefined,
    one,
    many,
    description,
    fields,
    searches,
    needed,
    fresh: { ...Object.fromEntries(unsaid.map(([field, schema]) => [field, freshOf(schema)])), ...declared.fresh },
    names: names as KindOf['names'],
    sets: Object.keys(fields).filter((field) => isListOfTexts(fields[field] ?? Id)),
    at,
    cli,
    form: declared.form,
    wire,
    input,
    routes,
    entry: {
      label,
      key,
      element: z.strictObject(optional({ ...fields, ...secrets, ...inDocument }, [key])),
      secrets: Object.keys(secrets),
      most,
      ...(mostOfEach !== undefined && { mostOfEach }),
      ...(ofClient?.shape && { shape: ofClient.shape }),
      ...(ofClient?.groups && { groups: ofClient.groups }),
      ...(namedLists && { namedLists }),
      ...(people && { people }),
      ...(placeholders && { placeholders }),
      resource: {
        kind: declared.resource ?? 'Realm',
        description,
        ...(mostInResource !== undefined && { most: mostInResource }),
      },
    },
  };
}

const each = (of: Shape, change: (schema: z.ZodType, field: string) => [string, z.ZodType]): Shape =>
  Object.fromEntries(Object.entries(of).map(([field, schema]) => change(schema, field)));
const optional = (of: Shape, but: readonly string[] = []): Shape =>
  each(of, (schema, field) => [field, but.includes(field) ? schema : schema.optional()]);
