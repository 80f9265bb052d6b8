// Reads the requests of the Authorization API: the values that policies see, and the single requests of a batch. Pure.
// Authorization API 1.0 §5, §7.1.
import { Evaluation, type Evaluations } from '../../../contract/authzen.ts';

type Properties = Readonly<Record<string, unknown>>;

/** The most values of one property, as many as a policy's list may have. */
const MOST_VALUES = 200;

const isScalar = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value);

/** Texts, numbers and yes-or-no values, single or in a list; policies compare texts, so all else is left out. */
function valuesIn(properties: Properties | undefined, prefix: string): [string, string[]][] {
  return Object.entries(properties ?? {}).flatMap(([name, value]): [string, string[]][] => {
    const values = [value].flat().filter(isScalar).slice(0, MOST_VALUES);
    return values.length === 0 ? [] : [[`${prefix}${name}`, values.map(String)]];
  });
}

export type Circumstances = Readonly<Record<string, readonly string[]>>;

/** The context of a decision. A property goes before an entry of the context that has its name. */
export const contextOf = ({
  subject,
  action,
  resource,
  context,
}: {
  subject?: { properties?: Properties | undefined };
  action?: { properties?: Properties | undefined };
  resource?: { properties?: Properties | undefined };
  context?: Properties | undefined;
}): Circumstances =>
  Object.fromEntries([
    ...valuesIn(context, ''),
    ...valuesIn(subject?.properties, 'subject.'),
    ...valuesIn(action?.properties, 'action.'),
    ...valuesIn(resource?.properties, 'resource.'),
  ]);

/** The client of the request that the resource server decides about, for policies of the type client. */
export const clientIn = ({ context }: { context?: Properties | undefined }): string | null => {
  const named = context?.client_id;
  return typeof named === 'string' ? named : null;
};

/** An entity of a single request replaces the common one, save for the fields by which it is found. */
function merged(own: unknown, common: Properties | undefined, identifying: readonly string[]): unknown {
  if (own === undefined) return common;
  if (typeof own !== 'object' || own === null || Array.isArray(own)) return own;
  const found = identifying.flatMap((field) => {
    const value = common?.[field];
    return value === undefined ? [] : [[field, value] as const];
  });
  return { ...Object.fromEntries(found), ...own };
}

export type Single = { asked: Evaluation } | { fault: string };

/** The requests of a batch: one that is incomplete is denied by itself. Authorization API 1.0 §7.1.1, §7.2.1. */
export const singleRequests = ({ evaluations = [], subject, action, resource, context }: Evaluations): Single[] =>
  evaluations.map((own) => {
    const parsed = Evaluation.safeParse({
      subject: merged(own.subject, subject, ['type', 'id']),
      action: merged(own.action, action, ['name']),
      resource: merged(own.resource, resource, ['type', 'id']),
      context: own.context ?? context,
    });
    if (parsed.success) return { asked: parsed.data };
    const [issue] = parsed.error.issues;
    return { fault: `${issue?.path.join('.')}: ${issue?.message}` };
  });
