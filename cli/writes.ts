// Owns: the options that create and change an object, made from the body of its route.
// Does not own: the kinds that can be written (their `routes`), prompts and editing (commands/write.ts).
import { z } from 'zod';
import type { Route } from '../server/contract/route.ts';
import { Refused } from './faults.ts';

export type WriteRoute = Pick<Route, 'method' | 'path' | 'body'>;

export interface Flag {
  /** `redirectUris` */
  field: string;
  /** `--redirect-uris` */
  long: string;
  of: 'text' | 'number' | 'flag' | 'list';
  about: string;
  choices: readonly string[] | undefined;
}

const isSecret = (field: string): boolean => /(secret|password|token)$/i.test(field);

/** The fields that only a file may set, because they are secrets. */
export const secretsOf = (route: WriteRoute): string[] => [...(fieldsOf(route) ?? [])].filter(isSecret);

/** Stands for a value of the server's environment. */
const PLACEHOLDER = /^\$\{SVC_VAR_[A-Z0-9_]+\}$/;

/** The name of a secret that a value holds, at any depth; undefined: it holds none. */
export function secretIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, one] of Object.entries(value)) {
    if (isSecret(name) && typeof one === 'string' && one !== '' && !PLACEHOLDER.test(one)) return name;
    const inner = secretIn(one);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

/** Arguments are seen by everybody on the computer, and kept in the shell's history. */
export const secretArgument = (option: string, field: string): Refused =>
  new Refused(
    `${field} is a secret, and ${option} shows it to others on this computer`,
    'Give it in a file: -f FILE, or -f - for stdin.',
  );

/** The fields that an option may set: plain fields of the body, without secrets. */
export function flagsOf({ body }: WriteRoute): Flag[] {
  if (!(body instanceof z.ZodObject)) return [];
  return Object.entries<z.ZodType>(body.shape).flatMap(([field, schema]): Flag[] => {
    const inner = bare(schema);
    const of = sortOf(inner);
    if (!of || isSecret(field)) return [];
    const choices = inner instanceof z.ZodEnum ? inner.options.map(String) : undefined;
    const long = `--${field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return [{ field, long, of, about: schema.description ?? inner.description ?? '', choices }];
  });
}

/** The option whose value may stand as an argument: the body's first field, if it is a required name. */
export function nameFlagOf(route: WriteRoute): Flag | undefined {
  if (!(route.body instanceof z.ZodObject)) return undefined;
  const [first] = Object.entries<z.ZodType>(route.body.shape);
  if (!first || first[1].safeParse(undefined).success) return undefined;
  const flag = flagsOf(route).find(({ field }) => field === first[0]);
  return flag?.of === 'text' && !flag.choices ? flag : undefined;
}

/** The fields that a body takes; undefined: not known. */
export const fieldsOf = ({ body }: WriteRoute): ReadonlySet<string> | undefined =>
  body instanceof z.ZodObject ? new Set(Object.keys(body.shape)) : undefined;

function bare(schema: z.ZodType): z.ZodType {
  const { innerType } = schema.def as { innerType?: z.ZodType }; // of optional, nullable, default: zod has no common name for them
  return innerType ? bare(innerType) : schema;
}

function sortOf(schema: z.ZodType): Flag['of'] | undefined {
  if (schema instanceof z.ZodBoolean) return 'flag';
  if (schema instanceof z.ZodNumber) return 'number';
  if (isText(schema)) return 'text';
  if (!(schema instanceof z.ZodArray)) return undefined;
  const element = bare(schema.element as z.ZodType); // an array's element is typed as core's
  return isText(element) ? 'list' : undefined;
}

/** Whether the schema is a text, including formats such as URLs. */
const isText = (schema: z.ZodType): boolean =>
  schema instanceof z.ZodString || schema instanceof z.ZodStringFormat || schema instanceof z.ZodEnum;
