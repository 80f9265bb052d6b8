// A plain kind of resource as one declaration: what is answered and taken, its routes, its section of the realm document and its
// field of the Realm resource follow from its fields. `npm run generate` finds it and lists it (declared-kinds.ts); what it is kept in
// and what must hold of it is its feature's (server/features/<section>/resource.ts).
// It may use no event types or permissions in its fields: those follow from the names of all kinds.
import { z } from 'zod';
import { Id } from './names.ts';
import type { Area } from './permissions.ts';
import type { ProblemCode } from './problem.ts';
import { byKey, type Described, type ResourceRoutes, resourceRoutes } from './resource.ts';
import type { Section as SectionEntry } from './section.ts';

type Shape = Readonly<Record<string, z.ZodType>>;
type In<S extends Shape> = { [Field in keyof S]?: z.input<S[Field]> | undefined };
type Out<S extends Shape> = { [Field in keyof S]: z.output<S[Field]> };
type Nullable<S extends Shape> = { [Field in keyof S]?: z.input<S[Field]> | null | undefined };

interface Declared<Section, Kind, Fields extends Shape, Secrets extends Shape, Answered extends Shape, At> {
  /** Its key in the realm document, and the name of this constant: `scimTargets`. Path and permission follow: `scim-targets`. */
  section: Section;
  /** One object, in plans and managers' lists: `scimTarget`. Events follow: `SCIM_TARGET_CREATED`. */
  kind: Kind;
  /** As a sentence names one, and many: `a SCIM target`, `SCIM targets`. */
  one: string;
  many: string;
  /** What a Realm resource says of its field, and `realmctl` of the kind. */
  description: string;
  /** Among them the natural key. */
  fields: Fields;
  key: keyof Fields & string;
  /** Its path names one by the natural key, and not by its id. */
  at?: At;
  /** Beside the key, what a new object must have. */
  needed?: readonly (keyof Fields & string)[];
  /** Write-only, and sealed at rest: answered as `<field>Set`, and by reference in a Realm resource. */
  secrets?: Secrets;
  /** What only answers have, or have in another form. */
  answered?: Answered;
  /** Objects in one document. */
  most: number;
  /** Objects in a Realm resource, where that takes fewer. */
  mostInResource?: number;
  /** What a write may answer beside what every one does. */
  problems?: readonly ProblemCode[];
  searches?: boolean;
  describe?: Described<unknown, unknown>['describe'];
  /** Bodies that work on a fresh realm; the second changes each field, from what the first says and from what is fresh. */
  example: In<Fields> & Nullable<Secrets>;
  updateExample: In<Fields> & Nullable<Secrets>;
}

type Wire<Fields extends Shape, Secrets extends Shape, Answered extends Shape> = { id: string } & Omit<
  Out<Fields>,
  keyof Answered
> & { [Field in keyof Secrets & string as `${Field}Set`]: boolean } & Out<Answered>;

type Path<At extends string> = z.ZodType<Record<'realm' | At, string>, Record<'realm' | At, string>>;

export interface KindOf<
  Section extends string = string,
  Kind extends string = string,
  Fields extends Shape = Shape,
  Secrets extends Shape = Shape,
  Answered extends Shape = Shape,
  At extends string = string,
> {
  section: Section;
  kind: Kind;
  many: string;
  description: string;
  searches: boolean;
  needed: readonly string[];
  /** The parameter of the path that names one. */
  at: At;
  wire: z.ZodObject;
  routes: ResourceRoutes<
    Path<At>,
    z.ZodType<Wire<Fields, Secrets, Answered>>,
    z.ZodType<unknown, In<Fields> & Nullable<Secrets>>,
    z.ZodType<unknown, In<Fields> & Partial<Wire<Fields, Secrets, Answered>> & Nullable<Secrets>>
  >;
  /** In the table of sections, beside its names. */
  entry: Pick<SectionEntry, 'label' | 'most' | 'resource'> & {
    key: keyof Fields & string;
    element: z.ZodType<In<Fields> & In<Secrets>>;
    secrets: readonly (keyof Secrets & string)[];
  };
}

/** `scimTarget` with something between its words, in lower case: `scim-target`. */
export const apart = (name: string, by: string): string =>
  name.replaceAll(/[A-Z]/g, (first) => `${by}${first.toLowerCase()}`);
/** `scimTarget` → `ScimTarget` */
const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

export function kind<
  const Section extends string,
  const Kind extends string,
  Fields extends Shape,
  Secrets extends Shape = Record<never, never>,
  Answered extends Shape = Record<never, never>,
  const At extends string = 'id',
>(
  declared: Declared<Section, Kind, Fields, Secrets, Answered, At & keyof Fields>,
): KindOf<Section, Kind, Fields, Secrets, Answered, At>;
export function kind(declared: Declared<string, string, Shape, Shape, Shape, string>): KindOf {
  const {
    section,
    key,
    at = 'id',
    one,
    many,
    description,
    searches = false,
    needed = [],
    most,
    mostInResource,
  } = declared;
  const { fields, secrets = {}, answered = {} } = declared;
  const isSet = each(secrets, (_, field) => [`${field}Set`, z.boolean()]);
  const nullable = each(secrets, (schema, field) => [field, schema.nullable()]);
  const wire = z.object({ id: Id, ...fields, ...isSet, ...answered }).meta({ id: capital(declared.kind) });
  const routes = resourceRoutes({
    path: apart(section, '-'),
    // which areas there are follows from all kinds, this one too
    area: apart(section, '-') as Area,
    one,
    many,
    searches,
    wire,
    input: z.strictObject(optional({ ...fields, ...nullable }, [key, ...needed])),
    // PUT takes what GET answered; a field that is left out keeps its value, the secret too
    update: z.strictObject(optional({ id: Id, ...isSet, ...answered, ...fields, ...nullable })),
    // a natural key is a text
    at: { param: at, schema: byKey(at, fields[at] ?? Id) as z.ZodType as Path<string> },
    example: declared.example,
    updateExample: declared.updateExample,
    ...(declared.problems && { problems: declared.problems }),
    ...(declared.describe && { describe: declared.describe }),
  });
  return {
    section,
    kind: declared.kind,
    many,
    description,
    searches,
    needed,
    at,
    wire,
    // a shape with any fields has no more to say of them
    routes: routes as KindOf['routes'],
    entry: {
      label: one.replace(/^an? /, ''),
      key,
      element: z.strictObject(optional({ ...fields, ...secrets }, [key])),
      secrets: Object.keys(secrets),
      most,
      resource: { kind: 'Realm', description, ...(mostInResource !== undefined && { most: mostInResource }) },
    },
  };
}

const each = (of: Shape, change: (schema: z.ZodType, field: string) => [string, z.ZodType]): Shape =>
  Object.fromEntries(Object.entries(of).map(([field, schema]) => change(schema, field)));
const optional = (of: Shape, but: readonly string[] = []): Shape =>
  each(of, (schema, field) => [field, but.includes(field) ? schema : schema.optional()]);
