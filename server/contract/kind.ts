// A plain kind of resource as one declaration: what is answered and taken, its routes, its section of the realm document, its
// field of the Realm resource, its columns at rest and in `realmctl` follow from its fields. `npm run generate` finds the
// declaration and lists it (declared-kinds.ts, declared-names.ts); the rules are its feature's
// (server/features/<group>/<section>/resource.ts).
import { z } from 'zod';
import { separateWords } from './apart.ts';
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

/** Where it stands in custom resources: in a Realm, or as a kind of its own. */
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
  /** Its key in the realm document, and the name of this constant: `scimTargets`. Path and permission follow: `scim-targets`. */
  section: Section;
  /** One object, in plans and managers' lists: `scimTarget`. Events follow: `SCIM_TARGET_CREATED`. */
  kind: Kind;
  /** The area of its permissions, where that is another section's. `npm run generate` reads it from the file's text. */
  area?: string;
  /** Each belongs to a client: where they lie below its path, and how their section says whose they are. */
  ofClient?: Of;
  /** Its table; default: as the kind. */
  table?: string;
  /** As a sentence names one, and many: `a SCIM target`, `SCIM targets`. */
  one: string;
  many: string;
  /** As plans name one; default: `one` without its article. */
  label?: string;
  /** The description of the Realm resource's field, and of the kind in `realmctl`. */
  description: string;
  /** Among them the natural key. */
  fields: Fields;
  key: Key;
  /** The parameter of the path that names one: the natural key, or another name for the id than `id`. */
  at?: At;
  /** Beside the key, what a new object must have. */
  needed?: readonly (keyof Fields & string)[];
  /** POST and PUT must say each field: they say how the object is to be. Left out: what PUT leaves out stays. */
  whole?: true;
  /**
   * The value that a field of a new object has; left out: null where the field can be null, an empty list, an empty map. A field
   * of {@link needed} has none.
   */
  fresh?: In<NoInfer<Fields>>;
  /** Fields that hold natural keys of other kinds, with that kind: `flowOverride: 'flow'`. The named objects must exist. */
  names?: { readonly [Field in keyof NoInfer<Fields>]?: string };
  /** Write-only, and sealed at rest: answered as null and `<field>Set`, and by reference in a Realm resource. */
  secrets?: Secrets;
  /** Fields of requests alone, or fields with another form in requests. */
  asked?: Asked;
  /** Fields of answers alone, or fields with another form in answers; `createdAt` is a column that is written once. */
  answered?: Answered;
  /** Fields of documents alone. */
  inDocument?: InDocument;
  /** Fields that hold usernames: run-time data, so in no custom resource, and exported with users alone. */
  people?: readonly ((keyof Fields | keyof InDocument) & string)[];
  /** Objects in one document. */
  most: number;
  /** Of a client that they belong to. */
  mostOfEach?: number;
  /** Objects in a Realm resource, where that takes fewer. */
  mostInResource?: number;
  /** The custom resource that each object is by itself; left out: they are a field of the Realm resource. */
  resource?: Resource;
  namedLists?: SectionEntry['namedLists'];
  placeholders?: readonly string[];
  /** Problems that a write may answer beside those of every kind. */
  problems?: readonly ProblemCode[];
  /** Fields that `q` looks at. */
  searches?: readonly (keyof Fields & string)[];
  describe?: Described<unknown, unknown>['describe'];
  reach?: Described<unknown, unknown>['reach'];
  /** Bodies that work on a fresh realm; the second changes each field, from what the first says and from what is fresh. */
  example: { [Field in Key & keyof Fields]: z.input<Fields[Field]> } & In<NoInfer<Fields>> & Nullable<NoInfer<Secrets>>;
  updateExample: In<NoInfer<Fields>> & Nullable<NoInfer<Secrets>>;
  cli?: Cli;
}

/** How `realmctl` shows the kind, where it isn't by the names of section, kind and fields. */
interface Cli {
  /** `workload-identities` */
  plural?: string;
  singular?: string;
  help?: string;
  /** Fields that `get` shows beside the key; default: the first four. The others are shown by `-o wide`. */
  shown?: readonly string[];
  /** Those that `-o wide` shows beside; default: all others and the id. */
  wide?: readonly string[];
  /** Heads of columns, by field. */
  heads?: Readonly<Record<string, string>>;
}

type WireShape<Fields extends Shape, Secrets extends Shape, Answered extends Shape> = {
  id: typeof Id;
} & Mutable<Omit<Fields, keyof Answered>> & { [Field in keyof Secrets & string as `${Field}Set`]: z.ZodBoolean } & {
    [Field in keyof Secrets]: z.ZodNull;
  } & Mutable<Answered>;
type Wire<Fields extends Shape, Secrets extends Shape, Answered extends Shape> = { id: string } & Omit<
  Out<Fields>,
  keyof Answered
> & { [Field in keyof Secrets & string as `${Field}Set`]: boolean } & {
    [Field in keyof Secrets]: null;
  } & Out<Answered>;
/** Fields of an answer that a PUT may bring back: they are ignored. */
type ReadOnly<Secrets extends Shape, Answered extends Shape> = { id?: string | undefined } & {
  [Field in keyof Secrets & string as `${Field}Set`]?: boolean | undefined;
} & In<Answered>;

type Params<Name extends string> = z.ZodType<Record<'realm' | Name, string>, Record<'realm' | Name, string>>;
type OfClient = Pick<SectionEntry, 'shape' | 'groups'> & { path: string };
/** The path's parameter for the client. */
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
  /** Each belongs to a client. */
  ofClient: boolean;
  many: string;
  description: string;
  fields: Shape;
  searches: readonly string[];
  needed: readonly string[];
  /** Of each field that a new object needn't say. */
  fresh: Readonly<Record<string, unknown>>;
  names: Readonly<Record<string, string>>;
  /** Lists of words: sets, whose order says nothing. */
  sets: readonly string[];
  /** The parameter of the path that names one. */
  at: string;
  cli: Cli;
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
  /** In the table of sections, beside its names. */
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

/** The answer about one object. */
export type AnswerOf<Of extends { routes: { get: { response: z.ZodType } } }> = z.output<
  Of['routes']['get']['response']
>;
/** The body of a request that creates one. */
export type InputOf<Of extends { routes: { create: { body: z.ZodType } } }> = z.input<Of['routes']['create']['body']>;

/** `scimTarget` → `ScimTarget` */
const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** The schema without null and absence. */
export const presentSchema = (schema: z.ZodType): z.ZodType =>
  schema instanceof z.ZodNullable || schema instanceof z.ZodOptional
    ? presentSchema(schema.unwrap() as z.ZodType)
    : schema;
/** A text, which one word or more stands for. */
export const isText = (schema: z.ZodType): boolean => {
  const of = presentSchema(schema);
  return of instanceof z.ZodString || of instanceof z.ZodStringFormat || of instanceof z.ZodEnum;
};
export const isListOfTexts = (schema: z.ZodType): boolean => {
  const of = presentSchema(schema);
  return of instanceof z.ZodArray && isText(of.element as z.ZodType);
};

/** The value of a field of a new object that the request leaves out, by the field's schema. */
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
  const wire = z
    .object({ id: Id, ...(realmId && { realmId }), ...fields, ...hidden, ...isSet, ...answered })
    .meta({ id: capital(declared.kind) });
  const all = Object.keys(fields);
  const input = z.strictObject(optional({ ...fields, ...nullable, ...asked }, whole ? all : [key, ...needed]));
  const within = ofClient ? InClient : InRealm;
  const routes = resourceRoutes({
    path: ofClient ? `clients/:clientId/${ofClient.path}` : separateWords(section, '-'),
    ...(ofClient && { tag: area }),
    // which areas there are follows from all kinds, this one too
    area: area as Area,
    one,
    many,
    searches: searches.length > 0,
    wire,
    input,
    // PUT takes what GET answered; a field that is left out keeps its value, the secret too
    update: z.strictObject(
      optional({ ...fields, ...nullable, id: Id, ...isSet, ...answered, ...fields, ...asked }, whole ? all : []),
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
