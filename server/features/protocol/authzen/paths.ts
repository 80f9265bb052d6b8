// Finds the resource of a path that a gateway names: of the type `route`, by its name or by one of its `uris`, which may have
// `{names}` and a `*` at the end. Pure. AuthZEN REST API gateway profile.
import type { Model } from '../../configuration/authorization-services/evaluate.ts';

export const ROUTE = 'route';

interface Route {
  name: string;
  segments: readonly string[];
  /** The path goes on as it likes after the segments. */
  open: boolean;
  /** The number of segments that must be equal: the most of them decide among several routes. */
  fixed: number;
}

const isVariable = (segment: string): boolean => /^\{[^{}]+\}$/.test(segment);

/**
 * The segments of a path; undefined: two servers could understand it differently, so no route has it (`..`, `//`, encoded
 * slashes and dots, a query).
 */
function segmentsOf(path: string): string[] | undefined {
  if (!path.startsWith('/') || /[\\?#;\0]|%(2e|2f|5c|00|25)/i.test(path)) return undefined;
  const segments = path.slice(1).split('/');
  const middle = segments.slice(0, -1);
  if (segments.some((segment) => segment === '.' || segment === '..') || middle.includes('')) return undefined;
  return segments;
}

function routeOf(name: string, uri: string): Route | undefined {
  const segments = segmentsOf(uri);
  if (!segments) return undefined;
  const open = segments.at(-1) === '*';
  const own = open ? segments.slice(0, -1) : segments;
  return { name, segments: own, open, fixed: own.filter((segment) => !isVariable(segment)).length };
}

const known = new WeakMap<Model, readonly Route[]>();

/** The model's routes, those with the most fixed segments first. */
function routesOf(model: Model): readonly Route[] {
  const before = known.get(model);
  if (before) return before;
  const routes = [...model.resources.values()]
    .filter(({ type }) => type === ROUTE)
    .flatMap(({ name, uris }) => uris.flatMap((uri) => routeOf(name, uri) ?? []))
    .sort((a, b) => b.fixed - a.fixed || Number(a.open) - Number(b.open) || b.segments.length - a.segments.length);
  known.set(model, routes);
  return routes;
}

const fits = ({ segments, open }: Route, path: readonly string[]): boolean =>
  (open ? path.length > segments.length : path.length === segments.length) &&
  segments.every((segment, nth) => segment === path[nth] || (isVariable(segment) && path[nth] !== ''));

/** The name of the resource that a path belongs to. */
export function routeNamed(model: Model, path: string): string | undefined {
  if (model.resources.get(path)?.type === ROUTE) return path;
  const segments = segmentsOf(path);
  return segments && routesOf(model).find((route) => fits(route, segments))?.name;
}
