// A resource as it is answered: its ETag, its address, and of its attributes those that were asked for. Pure.
import { etagOf } from '../../../http/etag.ts';
import type { Values } from './body.ts';
import { type Projection, projectResource } from './project.ts';
import type { ResourceType } from './schema.ts';

export interface Answer {
  resource: Values;
  /** undefined: the resource that it is a digest of was not read. */
  version: string | undefined;
  location: string;
}

/** @param whole whether it is the whole resource; its ETag is weak, as an answer may show a part of it */
export function answerOf(type: ResourceType, resource: Values, projection: Projection, whole = true): Answer {
  const version = whole ? `W/${etagOf(resource)}` : undefined;
  const meta = { ...Object(resource.meta), ...(version !== undefined && { version }) };
  return {
    resource: projectResource(type, { ...resource, meta }, projection),
    version,
    location: String(meta.location),
  };
}
