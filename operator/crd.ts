// Prints the CustomResourceDefinitions from the wire's zod schemas: structural, described, with CEL rules where a schema
// can't express a limit. A spec has no defaults: the API server would write them, and omitted fields would look managed.
// A field that names an element of a list can have one: the element is declared anyway, and the API server keeps lists of
// named elements by owner (server-side apply) only if each element has its whole name.
// Design "Generated things"; decisions "Custom resources".
import { stringify } from 'yaml';
import { z } from 'zod';
import { EventTypeName } from '../server/contract/events.ts';
import { authenticatorIds } from '../server/contract/flows.ts';
import { GROUP, VERSION } from '../server/contract/resources/custom-resource.ts';
import { FlowSpec, FlowStatus } from '../server/contract/resources/flow.ts';
import { RealmSpec, RealmStatus, realmFields } from '../server/contract/resources/realm.ts';
import { WebhookSpec, WebhookStatus } from '../server/contract/resources/webhook.ts';
import { WorkloadIdentitySpec, WorkloadIdentityStatus } from '../server/contract/resources/workload-identity.ts';
import { fieldsOfKey, type Section, sourceOf } from '../server/contract/section.ts';
import { type KindName, plurals } from './resource.ts';

interface Column {
  name: string;
  type: 'string' | 'integer' | 'date' | 'boolean';
  jsonPath: string;
  /** 1: only with `-o wide`. */
  priority?: 1;
}
interface Definition {
  kind: KindName;
  shortNames: string[];
  description: string;
  spec: z.ZodType;
  status: z.ZodType;
  /** The columns that `kubectl get` shows for this kind, beside the columns of all kinds. */
  columns: Column[];
}

const definitions: Definition[] = [
  {
    kind: 'Realm',
    shortNames: ['rlm'],
    description:
      'A realm on a Realmkeeper server, kept as it is declared. What it does not mention stays as people set it.',
    spec: RealmSpec,
    status: RealmStatus,
    columns: [{ name: 'Issuer', type: 'string', jsonPath: '.status.issuer', priority: 1 }],
  },
  {
    kind: 'Flow',
    shortNames: ['flw'],
    description: 'A sign-in flow of a realm: its steps as a tree, and whether it is the realm’s browser flow.',
    spec: FlowSpec,
    status: FlowStatus,
    columns: [
      { name: 'Bound', type: 'boolean', jsonPath: '.spec.bind' },
      { name: 'Executions', type: 'integer', jsonPath: '.status.executions', priority: 1 },
    ],
  },
  {
    kind: 'Webhook',
    shortNames: ['whk'],
    description: 'A subscription of an HTTPS endpoint to events of a realm.',
    spec: WebhookSpec,
    status: WebhookStatus,
    columns: [
      { name: 'URL', type: 'string', jsonPath: '.spec.url', priority: 1 },
      { name: 'Last delivery', type: 'string', jsonPath: '.status.lastDelivery', priority: 1 },
    ],
  },
  {
    kind: 'WorkloadIdentity',
    shortNames: ['wid'],
    description: 'Trust in a subject of a foreign token issuer, which may act as a client of a realm without a secret.',
    spec: WorkloadIdentitySpec,
    status: WorkloadIdentityStatus,
    columns: [
      { name: 'Client', type: 'string', jsonPath: '.spec.clientId' },
      { name: 'Subject', type: 'string', jsonPath: '.status.subject', priority: 1 },
    ],
  },
];

type Schema = { [key: string]: unknown };
const HEADER = '# Printed from server/contract/resources/ by npm run generate; do not edit.\n';

/**
 * A version of all four kinds. Versions are names for one shape: objects are never converted (strategy None), so every
 * version has every field. docs/upgrade.md explains how versions come and go.
 */
export interface CrdVersion {
  name: string;
  /** New and rewritten objects are stored in this version; exactly one version is. */
  storage: boolean;
  /** The API server's warning to clients that still use the version. */
  deprecationWarning?: string;
}
/** The versions of this release. The operator reads the one that `VERSION` names. */
const crdVersions: readonly CrdVersion[] = [{ name: VERSION, storage: true }];

/** Path from the root → content, one file for each kind. */
export function renderCrds(versions: readonly CrdVersion[] = crdVersions): Map<string, string> {
  const files = definitions.map((definition) => {
    const name = `crds/${GROUP}_${plurals[definition.kind]}.yaml`;
    const crd = crdOf(definition, versions);
    return [name, HEADER + stringify(crd, { lineWidth: 0, aliasDuplicateObjects: false })] as const;
  });
  return new Map(files);
}

function crdOf(definition: Definition, versions: readonly CrdVersion[]): Schema {
  const { kind, shortNames } = definition;
  const plural = plurals[kind];
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        shortNames,
        categories: ['realmkeeper'],
      },
      versions: versions.map((version) => versionOf(definition, version)),
    },
  };
}

function versionOf(
  { kind, description, spec, status, columns }: Definition,
  { name, storage, deprecationWarning }: CrdVersion,
): Schema {
  return {
    name,
    served: true,
    storage,
    ...(deprecationWarning !== undefined && { deprecated: true, deprecationWarning }),
    subresources: { status: {} },
    selectableFields: [{ jsonPath: '.spec.realm' }],
    additionalPrinterColumns: [
      { name: 'Realm', type: 'string', jsonPath: '.spec.realm' },
      ...columns,
      { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
      // the first condition is the most informative: the awaited object, or Ready, or Suspended
      { name: 'Reason', type: 'string', jsonPath: '.status.conditions[0].reason' },
      { name: 'Status', type: 'string', jsonPath: '.status.conditions[0].message' },
      { name: 'Last change', type: 'string', jsonPath: '.status.lastPlan.summary', priority: 1 },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ],
    schema: {
      openAPIV3Schema: {
        type: 'object',
        description,
        required: ['spec'],
        properties: {
          // The same text in all versions: the API server rejects selectableFields if the versions' schemas differ in a word.
          apiVersion: { type: 'string', description: `${GROUP} and the version that the resource is written in` },
          kind: { type: 'string', description: kind },
          metadata: { type: 'object' },
          spec: { ...structural(spec, 'spec'), description: `What the ${kind} is to be` },
          status: {
            ...structural(status, 'status'),
            description: 'What the operator found and did; written by it alone',
            // kstatus takes a resource without a status for finished. This default marks a new resource as not yet observed.
            default: { observedGeneration: -1 },
          },
        },
      },
    },
  };
}

/** A schema in the form that the Kubernetes API accepts. @throws Error naming the place that it doesn't accept */
export function structural(schema: z.ZodType, place: string): Schema {
  const printed = z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input', cycles: 'throw', reused: 'inline' });
  return node(inlined(printed), place);
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const schemas = (value: unknown): [string, Schema][] =>
  isSchema(value) ? Object.entries(value).filter((entry): entry is [string, Schema] => isSchema(entry[1])) : [];

/** Replaces references by the schemas themselves, because the Kubernetes API supports no references. */
function inlined(root: Schema): Schema {
  const { definitions: shared, components, $defs, ...rest } = root;
  const named = new Map([
    ...schemas(shared),
    ...schemas($defs),
    ...schemas(isSchema(components) && components.schemas),
  ]);
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk);
    if (!isSchema(value)) return value;
    if (typeof value.$ref !== 'string') {
      return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, walk(child)]));
    }
    const target = named.get(value.$ref.replace(/^.*\//, ''));
    if (!target) throw new Error(`${value.$ref} is not defined`);
    const { $ref, ...beside } = value;
    return walk({ ...target, ...beside });
  };
  const result = walk(rest);
  return isSchema(result) ? result : {};
}

function node(source: Schema, place: string): Schema {
  for (const branch of ['anyOf', 'oneOf', 'allOf', 'not', '$ref']) {
    if (source[branch] !== undefined) throw new Error(`${place}: ${branch} is not structural`);
  }
  if (source.default !== undefined) throw new Error(`${place}: a default would look managed`);
  // a field's examples belong to the API documentation
  const { $schema, id, examples, propertyNames, additionalProperties, properties, items, minimum, maximum, ...said } =
    source;
  const kept = nullableWords(said);
  if (typeof kept.pattern === 'string' && /\(\?[=!<]/.test(kept.pattern)) {
    throw new Error(`${place}: the pattern looks around, which the API server can't`);
  }
  if (Object.keys(source).every((key) => key === 'description'))
    return { ...kept, 'x-kubernetes-preserve-unknown-fields': true };
  return withKeyDefaults(place, {
    ...kept,
    ...(kept.type === 'integer' && { format: 'int64' }),
    ...bounds(minimum, maximum),
    ...(items !== undefined && { items: node(isSchema(items) ? items : {}, `${place}[]`) }),
    ...members(properties, additionalProperties, place),
    ...rules(source, place),
  });
}

/** Fields of keys that an element may leave out, by the element's place. */
const keyDefaults: ReadonlyMap<string, NonNullable<Section['keyDefaults']>> = new Map(
  [...realmFields].flatMap(([field, { section }]) =>
    section.keyDefaults ? [[`spec.${field}[]`, section.keyDefaults] as const] : [],
  ),
);
function withKeyDefaults(place: string, printed: Schema): Schema {
  const defaults = keyDefaults.get(place);
  const { properties, required } = printed;
  if (!defaults || !isSchema(properties) || !Array.isArray(required)) return printed;
  const lent = Object.entries(defaults).map(([field, { value, words }]) => {
    const { description, ...schema } = Object(properties[field]);
    return [field, { ...schema, description: `${description}; ${words}`, default: value }];
  });
  return {
    ...printed,
    required: required.filter((field) => !Object.hasOwn(defaults, field)),
    properties: { ...properties, ...Object.fromEntries(lent) },
  };
}

/** The API server refuses a null where there is an enum, be it one of its values or not. */
function nullableWords(said: Schema): Schema {
  const { enum: words, ...kept } = said;
  if (said.nullable !== true || !Array.isArray(words)) return said;
  return { ...kept, pattern: `^(${words.join('|').replaceAll(/[.+*?]/g, '\\$&')})$` };
}

const bounds = (minimum: unknown, maximum: unknown): Schema => ({
  ...(minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER && { minimum }),
  ...(maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER && { maximum }),
});

/**
 * A fixed set of fields, or a map. `additionalProperties: false` is left out: the API server removes unknown fields
 * anyway.
 */
function members(properties: unknown, additional: unknown, place: string): Schema {
  if (isSchema(properties)) {
    const printed = schemas(properties).map(([key, child]) => [key, node(child, `${place}.${key}`)]);
    return { properties: Object.fromEntries(printed) };
  }
  if (!isSchema(additional)) return {};
  if (Object.keys(additional).length === 0) return { 'x-kubernetes-preserve-unknown-fields': true };
  return { additionalProperties: node(additional, `${place}.*`) };
}

/**
 * Lists whose items have a name. A name occurs once in such a list, and with server-side apply each field manager keeps items
 * of its own: a platform team its clients, an application team another. All other lists are one value.
 */
const listKeys: ReadonlyMap<string, readonly string[]> = new Map([
  ['status.conditions', ['type']],
  ...[...realmFields].flatMap(([field, { section }]) => keysOf(`spec.${field}`, section)),
]);

type KeyedSection = Pick<Section, 'shape' | 'groups' | 'namedLists'> & { key?: Section['key'] | undefined };
type NamedList = [place: string, key: readonly string[]];
/** The named lists of a section, with the fields that hold the names. */
export function keysOf(place: string, { shape, groups, key, namedLists = {} }: KeyedSection): NamedList[] {
  if (groups) {
    const { by, list } = groups;
    return [[place, [by]], ...keysOf(`${place}[].${list}`, { key, namedLists })];
  }
  const list = shape === 'map' ? `${place}.*` : place;
  const element = shape === 'object' ? place : `${list}[]`;
  const within = Object.entries(namedLists).map(([path, name]): NamedList => [`${element}.${path}`, fieldsOfKey(name)]);
  return key === undefined ? within : [[list, fieldsOfKey(key)], ...within];
}

/** @throws Error if an item can lack its name: the API server refuses such a definition */
function namedBy(key: readonly string[], items: unknown, place: string): readonly string[] {
  const required = isSchema(items) && Array.isArray(items.required) ? items.required : [];
  const lacking = key.filter((field) => !required.includes(field));
  if (lacking.length > 0) throw new Error(`${place}: an item may lack ${lacking.join(', ')}, which names it`);
  return key;
}

/** Fields whose value may be in another object instead of the element, by the element's place. */
const sourcedIn: ReadonlyMap<string, readonly string[]> = new Map(
  [...realmFields].map(([field, { section }]) => [
    section.shape === 'object' ? `spec.${field}` : `spec.${field}[]`,
    Object.keys(section.sourced ?? {}),
  ]),
);
const inOnePlace = (place: string) =>
  (sourcedIn.get(place) ?? []).map((field) => ({
    rule: `!has(self.${field}) || !has(self.${sourceOf(field)})`,
    message: `${field} stands here or comes from ${sourceOf(field)}, not both`,
  }));
const oneSource = {
  rule: 'has(self.configMapKeyRef) != has(self.secretKeyRef)',
  message: 'has a configMapKeyRef or a secretKeyRef: exactly one of the two',
};

const validated = (rule: string, message: string) => ({ 'x-kubernetes-validations': [{ rule, message }] });
/** In a list within a list, the API server's budget for rules only suffices for `startsWith`. The server checks the rest. */
const redirect = validated(
  ["self.startsWith('javascript:')", "self.startsWith('data:')", "self.startsWith('vbscript:')"]
    .map((one) => `!${one}`)
    .join(' && '),
  'has a scheme that may not be redirected to',
);
/** Rules that the server also checks, by place in the schema: with them the API server already rejects such a value. */
const refusals: ReadonlyMap<string, Schema> = new Map<string, Schema>([
  ['spec.url', validated("self.matches('(?i)^https://')", 'must be an absolute https address')],
  ['spec.eventTypes[]', { enum: ['*', ...EventTypeName.options] }],
  [
    'spec.clients[]',
    validated(
      '!has(self.secretKeyRef) || !has(self.secretOutput)',
      'has its secret from secretKeyRef or has one made (secretOutput), not both',
    ),
  ],
  ['spec.clients[].redirectUris[]', { pattern: '^[^*#]*$', ...redirect }],
  ['spec.clients[].postLogoutRedirectUris[]', { pattern: '^[^*#]*$', ...redirect }],
  [
    'spec.settings',
    validated(
      '!has(self.riskMediumThreshold) || !has(self.riskHighThreshold) || self.riskMediumThreshold <= self.riskHighThreshold',
      'riskMediumThreshold must not exceed riskHighThreshold',
    ),
  ],
]);

/** CEL rules, for limits that a schema can't express. A rule's strings and lists are bounded, as the API server demands. */
function rules({ properties, required, items }: Schema, place: string): Schema {
  if (place === 'spec.realm')
    return { 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'realm is immutable' }] };
  if (place === 'spec.serverRef')
    return { 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'serverRef is immutable' }] };
  const refused = refusals.get(place);
  const inOne = inOnePlace(place);
  if (inOne.length > 0) {
    const before = refused?.['x-kubernetes-validations'];
    return { ...refused, 'x-kubernetes-validations': [...(Array.isArray(before) ? before : []), ...inOne] };
  }
  if (refused) return refused;
  if (isSchema(properties) && 'configMapKeyRef' in properties) return { 'x-kubernetes-validations': [oneSource] };
  if (/^spec\.(executions\[\]\.)+authenticatorId$/.test(place)) return { enum: [...authenticatorIds] };
  const key = listKeys.get(place);
  if (key) return { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': namedBy(key, items, place) };
  if (place === 'spec.allowedNamespaces') {
    const rule = "(self.from == 'Selector') == has(self.selector)";
    return {
      'x-kubernetes-validations': [
        { rule, message: 'selector goes with from: Selector, and with no other', fieldPath: '.selector' },
      ],
    };
  }
  if (place === 'spec' && isSchema(properties)) {
    const message = 'serverRef is immutable: it can be neither added nor taken away';
    const stays = ['has(oldSelf.serverRef) || !has(self.serverRef)', '!has(oldSelf.serverRef) || has(self.serverRef)'];
    const immutable = stays.map((rule) => ({ rule, message }));
    if (!('serviceAccountRef' in properties)) return { 'x-kubernetes-validations': immutable };
    const rule = 'has(self.serviceAccountRef) ? !has(self.subject) : has(self.issuer) && has(self.subject)';
    const somebody = 'needs issuer and subject, or in place of the subject a serviceAccountRef';
    return { 'x-kubernetes-validations': [{ rule, message: somebody }, ...immutable] };
  }
  if (!/^spec\.executions(\[\]\.executions)*\[\]$/.test(place) || !isSchema(properties)) return {};
  // the deepest level has no children, so its executions are steps
  if (!('executions' in properties))
    return { required: [...(Array.isArray(required) ? required : []), 'authenticatorId'] };
  const message = 'is a step with authenticatorId, or a container with executions: exactly one of the two';
  return {
    'x-kubernetes-validations': [{ rule: 'has(self.authenticatorId) != has(self.executions)', message }],
  };
}
