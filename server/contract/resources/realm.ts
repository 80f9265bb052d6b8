// Kind Realm: a realm's configuration, without flows, webhooks and workload identities, which have kinds of their own.
// Users stay run-time data. Decisions "Custom resources"; specification 2.10 for the sections.
import { z } from 'zod';
import { collectionOf, referenceTo, type Section, sourceOf, wordsOfField } from '../section.ts';
import { presentSections, type SectionKey, type Sections } from '../sections.ts';
import {
  ClientServiceAccounts,
  commonSpec,
  commonStatus,
  deletionPolicy,
  SecretKeyRef,
  SecretOutput,
  ValueSource,
} from './custom-resource.ts';

/** The element's schema in the resource: references in place of write-only secrets, and no fields with usernames. */
function withReferences({
  element,
  secrets = [],
  people = [],
  sourced = {},
  output,
  serviceAccounts,
  label,
}: Section): z.ZodType {
  const left = [...secrets, ...people];
  const fields = Object.keys(sourced);
  if (left.length + fields.length === 0) return element;
  if (!(element instanceof z.ZodObject)) throw new Error(`a ${label} with secrets or people must be an object`);
  const described = (secret: string) =>
    `The ${label}’s ${wordsOfField(secret)}; left out: the server keeps the one it has`;
  return z.strictObject({
    ...Object.fromEntries(Object.entries(element.shape).filter(([field]) => !left.includes(field))),
    ...Object.fromEntries(
      secrets.map((secret) => [referenceTo(secret), SecretKeyRef.optional().describe(described(secret))]),
    ),
    ...Object.fromEntries(
      fields.map((field) => [
        sourceOf(field),
        ValueSource.optional().describe(`In place of ${field}: where its value is; followed when it changes there`),
      ]),
    ),
    ...(output && { secretOutput: SecretOutput.optional() }),
    ...(serviceAccounts && { serviceAccounts: ClientServiceAccounts.optional() }),
  });
}

/** A section as a field of the Realm resource. */
export function resourceField(section: Section): z.ZodOptional {
  const { resource, shape, groups, most, mostOfEach } = section;
  if (resource?.kind !== 'Realm') throw new Error(`a ${section.label} is no field of a Realm`);
  const element = withReferences(section);
  const field =
    shape === 'object' ? element : collectionOf(element, { shape, groups, most: resource.most ?? most, mostOfEach });
  return field.optional().describe(resource.description);
}

/** The field of the spec that contains a section of the document. */
export function realmField(key: string): string {
  const resource = presentSections.get(key)?.resource;
  return (resource?.kind === 'Realm' && resource.field) || key;
}

/** The sections that a Realm contains: field of the spec → key and section. */
export const realmFields: ReadonlyMap<string, { key: string; section: Section }> = new Map(
  [...presentSections].flatMap(([key, section]) =>
    section.resource?.kind === 'Realm' ? [[realmField(key), { key, section }] as const] : [],
  ),
);

type InRealm = { [K in SectionKey]: Sections[K] extends { resource: { kind: 'Realm' } } ? K : never }[SectionKey];
type FieldOf<K extends InRealm> = Sections[K]['resource'] extends { field: infer F extends string } ? F : K;
type ElementOf<S extends { element: z.ZodType }> = S extends { secrets: readonly (infer F extends string)[] }
  ? Omit<z.infer<S['element']>, F> & { [K in F as `${K}KeyRef`]?: SecretKeyRef | undefined } & OutputOf<S>
  : z.infer<S['element']>;
type OutputOf<S> = (S extends { output: true } ? { secretOutput?: SecretOutput | undefined } : unknown) &
  (S extends { serviceAccounts: true } ? { serviceAccounts?: ClientServiceAccounts | undefined } : unknown);
type ValueOf<S extends { element: z.ZodType; shape?: string }> = S extends {
  groups: { by: infer By extends string; list: infer List extends string };
}
  ? (Record<By, string> & Record<List, ElementOf<S>[]>)[]
  : S['shape'] extends 'object'
    ? ElementOf<S>
    : S['shape'] extends 'map'
      ? Record<string, ElementOf<S>[]>
      : ElementOf<S>[];
type RealmShape = { [K in InRealm as FieldOf<K>]: z.ZodOptional<z.ZodType<ValueOf<Sections[K]>>> };

export const AllowedNamespaces = z
  .strictObject({
    from: z
      .enum(['Same', 'All', 'Selector'])
      .describe('Same: the namespace of this resource; All: every one; Selector: those with the labels'),
    selector: z
      .strictObject({
        matchLabels: z.record(z.string().max(317), z.string().max(63)).optional().describe('Labels that it must have'),
        matchExpressions: z
          .array(
            z.strictObject({
              key: z.string().max(317).describe('The label'),
              operator: z
                .enum(['In', 'NotIn', 'Exists', 'DoesNotExist'])
                .describe('How the label relates to the values'),
              values: z.array(z.string().max(63)).max(100).optional().describe('With In and NotIn'),
            }),
          )
          .max(50)
          .optional()
          .describe('Requirements that must all hold'),
      })
      .optional()
      .describe('With from: Selector, the labels of the namespaces'),
  })
  .describe('Whose Flow, Webhook and WorkloadIdentity resources may attach to this realm; Same where it is left out');
export type AllowedNamespaces = z.infer<typeof AllowedNamespaces>;

export const RealmSpec = z.strictObject({
  ...commonSpec,
  deletionPolicy: deletionPolicy('Retain'),
  allowedNamespaces: AllowedNamespaces.optional(),
  // restores the table's types, which `entries` loses
  ...(Object.fromEntries(
    [...realmFields].map(([field, { section }]) => [field, resourceField(section)]),
  ) as RealmShape),
});
export type RealmSpec = z.infer<typeof RealmSpec>;

export const RealmStatus = z.strictObject({
  ...commonStatus,
  issuer: z.string().optional().describe('The `iss` of this realm’s tokens'),
  activeKeyId: z.string().optional().describe('Id of the key that signs now'),
});
export type RealmStatus = z.infer<typeof RealmStatus>;
