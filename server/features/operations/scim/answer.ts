// A resource as the response shows it: its ETag, its address, and the requested attributes. Pure.
import { etagOf } from '../../../http/etag.ts';
import type { Values } from './body.ts';
import { type Projection, projectResource } from './project.ts';
import type { ResourceType } from './schema.ts';

export interface Answer {
  resource: Values;
  /** The ETag; undefined: the resource was not read completely. */
  version: string | undefined;
  location: string;
}

/** @param whole whether `resource` is complete; its ETag is weak, because the response may show only a part of it */
export function answerOf(type: ResourceType, resource: Values, projection: Projection, whole = true): Answer {
  const version = whole ? `W/${etagOf(resource)}` : undefined;
  const meta = { ...Object(resource.meta), ...(version !== undefined && { version }) };
  return {
    resource: projectResource(type, { ...resource, meta }, projection),
    version,
    location: String(meta.location),
  };
}
