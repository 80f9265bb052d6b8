// A plain kind of resource as one declaration: its responses and requests, its routes, its section of the realm
// document, its field of the Realm resource, its columns in the database and in `realmctl` follow from its fields. `npm
// run generate` finds the declaration and lists it (declared-kinds.ts, declared-names.ts). Its feature has the rules
// (server/features/<group>/<section>/resource.ts).
import { z } from 'zod';
import { separateWords } from './apart.ts';
import type {
  Anything,
  Checked,
  Declaration,
  In,
  KeyOf,
  Naming,
  Needed,
  Nullable,
  OfClient,
  PartOf,
  ResourceKind,
  Shape,
} from './kind-declaration.ts';
import type { Applies, Cli, Form } from './kind-shown.ts';
import { type ManagedBy, managedBy } from './managed-by.ts';
import { Id, InClient, InRealm } from './names.ts';
import type { Area } from './permissions.ts';
import { type ResourceRoutes, resourceRoutes, type UpsertRoutes } from './resource.ts';
import type { Route } from './route.ts';
import type { Section as SectionEntry } from './section.ts';

type Out<S extends Shape> = { -readonly [Field in keyof S]: z.output<S[Field]> };
type Mutable<S extends Shape> = { -readonly [Field in keyof S]: S[Field] };
type Secrets<D extends Declaration> = PartOf<D, 'secrets'>;
type Answered<D extends Declaration> = PartOf<D, 'answered'>;
type SetFields<D extends Declaration> = `${keyof Secrets<D> & string}Set`;
type OwnFields<D extends Declaration> = Omit<D['fields'], keyof Answered<D>>;

type WireShape<D extends Declaration> = { id: typeof Id } & Mutable<OwnFields<D>> & {
    [Field in SetFields<D>]: z.ZodBoolean;
  } & { [Field in keyof Secrets<D>]: z.ZodNull } & Mutable<Answered<D> & typeof managedBy>;
type Wire<D extends Declaration> = { id: string } & Out<OwnFields<D>> & { [Field in SetFields<D>]: boolean } & {
    -readonly [Field in keyof Secrets<D>]: null;
  } & Out<Answered<D>> & { managedBy?: ManagedBy | undefined };

type Params<Name extends string> = z.ZodType<Record<'realm' | Name, string>, Record<'realm' | Name, string>>;
type PathField<D extends Declaration> = D['key'] extends readonly string[]
  ? KeyOf<D>
  : D extends { at: infer Field extends string }
    ? Field
    : 'id';
/** The path parameter for the client. */
type Within<D extends Declaration> = D extends { ofClient: OfClient } ? 'clientId' : never;

type WithSecrets<D extends Declaration> = Nullable<Secrets<D>> & In<PartOf<D, 'asked'>>;
/** The body of POST. */
type Taken<D extends Declaration> = Naming<D> & In<Omit<D['fields'], KeyOf<D>>> & WithSecrets<D>;
/** The body of PUT: it may send fields of a response back, which are ignored. */
type Changed<D extends Declaration> = { id?: string | undefined } & In<D['fields']> &
  In<Omit<Answered<D>, keyof D['fields']> & typeof managedBy> & { [Field in SetFields<D>]?: boolean | undefined } & In<
    PartOf<D, 'namedBy'>
  > &
  WithSecrets<D>;
/** The body of PUT on the list, which names the object. */
type Named<D extends Declaration> = Naming<D> & Changed<D>;
type Element<D extends Declaration> = Needed<Pick<D['fields'], KeyOf<D> & keyof D['fields']>> &
  In<D['fields'] & Secrets<D> & PartOf<D, 'inDocument'>>;

type RoutesOf<D extends Declaration> = D['key'] extends readonly string[]
  ? UpsertRoutes<Params<PathField<D> | Within<D>>, z.ZodType<Wire<D>>, z.ZodType<unknown, Named<D>>, Params<Within<D>>>
  : ResourceRoutes<
      Params<PathField<D> | Within<D>>,
      z.ZodType<Wire<D>>,
      z.ZodType<unknown, Taken<D>>,
      z.ZodType<unknown, Changed<D>>,
      Params<Within<D>>
    >;
type BodyOf<D extends Declaration> = D['key'] extends readonly string[] ? Named<D> : Taken<D>;

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
  /** The path parameters that name an object. */
  at: readonly string[];
  /** Fields of requests from which the natural key follows. */
  namedBy: readonly string[];
  cli: Cli;
  form?: Form | undefined;
  applies?: Applies | undefined;
  wire: z.ZodObject;
  /** The body of a request that creates an object. */
  input: z.ZodType;
  routes:
    | ResourceRoutes<
        z.ZodType,
        z.ZodType<Anything>,
        z.ZodType<unknown, Anything>,
        z.ZodType<unknown, Anything>,
        z.ZodType
      >
    | UpsertRoutes<z.ZodType, z.ZodType<Anything>, z.ZodType<unknown, Anything>, z.ZodType>;
  example: Anything;
  updateExample: Anything;
  /** The kind's entry in the table of sections, without its names. */
  entry: Pick<SectionEntry, OfEntry> & {
    key: string | readonly string[];
    element: z.ZodType;
    secrets: readonly string[];
    resource: { kind: ResourceKind; description: string; most?: number };
  };
}

/** One kind, with its own types. */
interface TypedKind<D extends Declaration> extends KindOf {
  section: D['section'];
  kind: D['kind'];
  fields: D['fields'];
  wire: z.ZodObject<WireShape<D>>;
  input: z.ZodType<BodyOf<D>, BodyOf<D>>;
  routes: RoutesOf<D>;
  entry: Omit<KindOf['entry'], 'key' | 'element' | 'secrets' | 'resource' | 'shape' | 'groups'> & {
    key: D['key'];
    element: z.ZodType<Element<D>>;
    secrets: readonly (keyof Secrets<D> & string)[];
    resource: {
      kind: D extends { resource: infer Resource extends ResourceKind } ? Resource : 'Realm';
      description: string;
      most?: number;
    };
  } & (D extends { ofClient: infer Of extends OfClient } ? Omit<Of, 'path'> : unknown);
}

/** The response with one object. */
export type AnswerOf<Of extends { routes: { get: { response: z.ZodType } } }> = z.output<
  Of['routes']['get']['response']
>;
/** The body of a request that creates an object. */
export type InputOf<Of extends { input: z.ZodType }> = z.input<Of['input']>;

/** The routes that create and change an object: one route where its body names the object. */
export const writesOf = ({ routes }: KindOf): { create: Route; put: Route } =>
  'upsert' in routes ? { create: routes.upsert, put: routes.upsert } : { create: routes.create, put: routes.put };

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

export function kind<const D extends Declaration>(declared: D & Checked<D>): TypedKind<D>;
export function kind(declared: Declaration): KindOf {
  const {
    section,
    key,
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
  const keys = [key].flat();
  const { namedBy = Object.fromEntries(keys.map((field) => [field, fields[field] ?? Id])) } = declared;
  const others = Object.fromEntries(Object.entries(fields).filter(([field]) => !keys.includes(field)));
  const body = { ...namedBy, ...fields, ...nullable };
  // PUT accepts the response of GET; an omitted field keeps its value, the secret too
  const changed = { ...body, id: Id, ...readOnly, ...body, ...asked };
  // a key of several fields stands in the body
  const inBody = typeof key !== 'string';
  const input = z.strictObject(
    inBody
      ? optional(
          changed,
          keys.filter((field) => !(field in asked)),
        )
      : { ...namedBy, ...optional({ ...others, ...nullable, ...asked }, whole ? all : needed) },
  );
  const within = ofClient ? InClient : InRealm;
  const at = inBody ? keys : [declared.at ?? 'id'];
  const idIn = (field: string) => (field === 'id' ? Id : Id.describe(`The ${label}’s id`));
  const routes = resourceRoutes({
    path: ofClient ? `clients/:clientId/${ofClient.path}` : (declared.path ?? separateWords(section, '-')),
    ...((ofClient || declared.path) && { tag: area }),
    // the areas follow from all kinds, including this one
    area: area as Area,
    one,
    many,
    searches: searches.length > 0,
    wire,
    input,
    update: inBody ? undefined : z.strictObject(optional(changed, whole ? all : [])),
    within,
    at: {
      params: at,
      schema: within.extend(Object.fromEntries(at.map((field) => [field, fields[field] ?? idIn(field)]))),
    },
    example: declared.example,
    updateExample: declared.updateExample,
    ...(declared.problems && { problems: declared.problems }),
    ...(declared.describe && { describe: declared.describe }),
    ...(declared.reach && { reach: declared.reach }),
  });
  const unsaid = Object.entries(others).filter(([field]) => !needed.includes(field));
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
    names,
    sets: Object.keys(fields).filter((field) => isListOfTexts(fields[field] ?? Id)),
    at,
    namedBy: Object.keys(declared.namedBy ?? {}),
    cli,
    form: declared.form,
    applies: declared.applies,
    wire,
    input,
    routes: routes as KindOf['routes'],
    example: declared.example,
    updateExample: declared.updateExample,
    entry: {
      label,
      key,
      element: z.strictObject(optional({ ...fields, ...secrets, ...inDocument }, keys)),
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
