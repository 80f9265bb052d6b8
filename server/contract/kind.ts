// A plain kind of resource as one declaration: its responses and requests, its routes, its section of the realm
// document, its field of the Realm resource, its columns in the database and in `realmctl` follow from its fields. `npm
// run generate` finds the declaration and lists it (declared-kinds.ts, declared-names.ts). Its feature has the rules
// (server/features/<group>/<section>/resource.ts).
import { z } from 'zod';
import { separateWords } from './apart.ts';
import type { Declaration, In, InNamed, Naming, Nullable, OfClient, ResourceKind, Shape } from './kind-declaration.ts';
import type { Applies, Cli, Form } from './kind-shown.ts';
import { type ManagedBy, managedBy } from './managed-by.ts';
import { Id, InClient, InRealm } from './names.ts';
import type { Area } from './permissions.ts';
import { type ResourceRoutes, resourceRoutes } from './resource.ts';
import type { Section as SectionEntry } from './section.ts';

type Out<S extends Shape> = { [Field in keyof S]: z.output<S[Field]> };
type Mutable<S extends Shape> = { -readonly [Field in keyof S]: S[Field] };

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
/** The path parameter for the client. */
type Within<Of> = Of extends OfClient ? 'clientId' : never;

/** The body of POST. */
type Taken<Key, Fields extends Shape, Secrets extends Shape, Asked extends Shape, Named> = Naming<Key, Fields, Named> &
  In<Omit<Fields, Key & keyof Fields>> &
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
  /** Fields of requests from which the natural key follows. */
  namedBy: readonly string[];
  cli: Cli;
  form?: Form | undefined;
  applies?: Applies | undefined;
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
  Named,
> extends KindOf {
  section: Section & string;
  kind: Kind & string;
  at: At;
  fields: Fields;
  wire: z.ZodObject<WireShape<Fields, Secrets, Answered>>;
  input: z.ZodType<Taken<Key, Fields, Secrets, Asked, Named>, Taken<Key, Fields, Secrets, Asked, Named>>;
  routes: ResourceRoutes<
    Params<At | Within<Of>>,
    z.ZodType<Wire<Fields, Secrets, Answered>>,
    z.ZodType<unknown, Taken<Key, Fields, Secrets, Asked, Named>>,
    z.ZodType<
      unknown,
      In<Fields> & ReadOnly<Secrets, Omit<Answered, keyof Fields>> & Nullable<Secrets> & In<Asked> & InNamed<Named>
    >,
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
  Named extends Shape | undefined = undefined,
>(
  declared: Declaration<Section, Kind, Key, Fields, Secrets, Asked, Answered, InDocument, At, Resource, Of, Named>,
): TypedKind<Section, Kind, Key, Fields, Secrets, Asked, Answered, InDocument, At, Resource, Of, Named>;
export function kind(
  declared: Declaration<
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
    OfClient | undefined,
    Shape | undefined
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
  const readOnly = { ...isSet, ...answered, ...managedBy };
  const first = Object.entries(answered).filter(([field]) => field === 'realmId' || field in (declared.namedBy ?? {}));
  const wire = z
    .object({ id: Id, ...Object.fromEntries(first), ...fields, ...hidden, ...readOnly })
    .meta({ id: capital(declared.kind) });
  const all = Object.keys(fields);
  const { [key]: ownKey, ...others } = fields;
  const { namedBy = { [key]: ownKey ?? Id } } = declared;
  const body = { ...namedBy, ...fields, ...nullable };
  const input = z.strictObject({
    ...namedBy,
    ...optional({ ...others, ...nullable, ...asked }, whole ? all : needed),
  });
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
    update: z.strictObject(optional({ ...body, id: Id, ...readOnly, ...body, ...asked }, whole ? all : [])),
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
    namedBy: Object.keys(declared.namedBy ?? {}),
    cli,
    form: declared.form,
    applies: declared.applies,
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
