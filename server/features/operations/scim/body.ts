// Reads a request's resource by its schema: names in the schema's case, values of the declared types. Undeclared and
// read-only attributes are dropped. Keys of the result are names of the schema, never of the request. RFC 7643 §2.5,
// RFC 7644 §3.3. Pure.
import { isObject } from '../../../contract/json.ts';
import { scimProblem } from './fault.ts';
import { type Attribute, attributesOf, type ResourceType } from './schema.ts';

/** Attributes by the schema's names; those of an extension are below its URN. */
export type Values = Record<string, unknown>;

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
const fields = (body: Readonly<Record<string, unknown>>): Map<string, unknown> =>
  new Map(Object.entries(body).map(([key, value]) => [key.toLowerCase(), value]));

/** Wraps a bare value into `{"value": …}`, which some clients leave out. */
const wrapped = ({ subAttributes }: Attribute, value: unknown): unknown =>
  !isObject(value) && subAttributes?.some(({ name }) => name === 'value') ? { value } : value;

/**
 * The role that Entra's AppRoleAssignmentsComplex writes as JSON in a text:
 * `{"value": "{\"id\":\"…\",\"value\":\"Admin\",\"displayName\":\"Admin\"}"}`. A role of Entra may have no `value`; its
 * `displayName` is then its only name.
 */
export function entraRole(text: unknown): { name: string; display: string | undefined } | undefined {
  if (typeof text !== 'string' || !text.trimStart().startsWith('{')) return undefined;
  let role: unknown;
  try {
    role = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(role)) return undefined;
  const [name, display] = [role.value, role.displayName].map((one) =>
    typeof one === 'string' && one !== '' ? one : undefined,
  );
  const named = name ?? display;
  return named === undefined ? undefined : { name: named, display };
}

function unpacked({ name, multiValued }: Attribute, value: unknown): unknown {
  if (name !== 'roles' || !multiValued || !isObject(value)) return value;
  const key = Object.keys(value).find((one) => one.toLowerCase() === 'value');
  const role = key === undefined ? undefined : entraRole(value[key]);
  if (key === undefined || !role) return value;
  return { ...(role.display !== undefined && { display: role.display }), ...value, [key]: role.name };
}

/** One value of the attribute; undefined: none. By RFC 7643 §2.5 null means none; clients also send empty texts. */
function oneOf(attribute: Attribute, given: unknown, path: string): unknown {
  if (given === null || given === undefined || given === '') return undefined;
  const { type, subAttributes } = attribute;
  if (subAttributes) {
    const value = unpacked(attribute, wrapped(attribute, given));
    if (!isObject(value)) throw scimProblem('invalidValue', `${path} must be an object`);
    return partsOf(subAttributes, value, path);
  }
  if (type === 'boolean') {
    // Entra writes "True" and "False".
    const word = String(given).toLowerCase();
    if (word !== 'true' && word !== 'false') throw scimProblem('invalidValue', `${path} must be true or false`);
    return word === 'true';
  }
  if (typeof given !== 'string' && typeof given !== 'number' && typeof given !== 'boolean')
    throw scimProblem('invalidValue', `${path} must be text`);
  const text = String(given);
  if (type === 'binary' && !BASE64.test(text)) throw scimProblem('invalidValue', `${path} must be base64`);
  if (text.includes('\0')) throw scimProblem('invalidValue', `${path} must not contain NUL`);
  return text;
}

function partsOf(attributes: readonly Attribute[], value: Readonly<Record<string, unknown>>, path: string) {
  const given = fields(value);
  const parts: Values = {};
  for (const attribute of attributes) {
    if (attribute.mutability === 'readOnly') continue;
    const part = readValue(attribute, given.get(attribute.name.toLowerCase()), `${path}.${attribute.name}`);
    if (part !== undefined) parts[attribute.name] = part;
  }
  return Object.keys(parts).length > 0 ? parts : undefined;
}

/**
 * An attribute's value, checked against the schema; undefined: the request has none.
 * @throws Problem `invalidValue`
 */
export function readValue(attribute: Attribute, given: unknown, path = attribute.name): unknown {
  if (given === undefined || given === null) return undefined;
  if (!attribute.multiValued) {
    // Entra also writes a manager as a list of one.
    const [one, ...more] = attribute.subAttributes ? [given].flat() : [given];
    if (Array.isArray(one) || more.length > 0) throw scimProblem('invalidValue', `${path} is one value`);
    return oneOf(attribute, one, path);
  }
  const values = [given].flat().flatMap((one, i) => oneOf(attribute, one, `${path}[${i}]`) ?? []);
  return values.length > 0 ? values : undefined;
}

/** @throws Problem `invalidValue` */
export function readResource(type: ResourceType, body: Readonly<Record<string, unknown>>): Values {
  const given = fields(body);
  const of = (attributes: readonly Attribute[], sent: ReadonlyMap<string, unknown>): Values =>
    Object.fromEntries(
      attributes
        .filter(({ mutability }) => mutability !== 'readOnly')
        .map((attribute) => [attribute.name, readValue(attribute, sent.get(attribute.name.toLowerCase()))])
        .filter(([, value]) => value !== undefined),
    );
  const resource = of(attributesOf(type), given);
  for (const { id, attributes } of type.extensions) {
    const sent = given.get(id.toLowerCase());
    const values = isObject(sent) ? of(attributes, fields(sent)) : {};
    if (Object.keys(values).length > 0) resource[id] = values;
  }
  return resource;
}
