// Owns: the API server's own record of who asked for what and when: its audit log.
// Does not own: what a test makes of it.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { stringify } from 'yaml';
import { z } from 'zod';

export interface AuditedRequest {
  user: string;
  verb: string;
  path: string;
  /** Absent where the request was for nothing that the cluster keeps. */
  resource: string | undefined;
  namespace: string | undefined;
  status: number;
  /** When the request came. */
  at: Date;
}

const Entry = z.object({
  user: z.object({ username: z.string() }),
  verb: z.string(),
  requestURI: z.string(),
  objectRef: z.object({ resource: z.string().optional(), namespace: z.string().optional() }).default({}),
  responseStatus: z.object({ code: z.number().default(0) }).default({ code: 0 }),
  requestReceivedTimestamp: z.string(),
});
const writing = ['create', 'update', 'patch', 'delete', 'deletecollection'];

/** Without what was asked or answered. Gives the policy's file. */
export async function writeAuditPolicy(folder: string, what: 'writes' | 'everything'): Promise<string> {
  const file = path.join(folder, 'audit-policy.yaml');
  const verbs = what === 'writes' ? { verbs: writing } : {};
  const rules = [
    { level: 'Metadata', omitStages: ['RequestReceived', 'ResponseStarted'], ...verbs },
    { level: 'None' },
  ];
  await writeFile(file, stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }));
  return file;
}

/** In the order in which the requests came; a watch is among them when it has ended. */
export async function auditedRequests(folder: string): Promise<AuditedRequest[]> {
  // what follows the last end of a line is being written
  const lines = (await readFile(path.join(folder, 'audit.log'), 'utf8')).split('\n').slice(0, -1);
  return lines
    .map((line) => {
      const { user, verb, requestURI, objectRef, responseStatus, requestReceivedTimestamp } = Entry.parse(
        JSON.parse(line),
      );
      const { resource, namespace } = objectRef;
      const [at, [uri = '']] = [new Date(requestReceivedTimestamp), requestURI.split('?')];
      return { user: user.username, verb, path: uri, resource, namespace, status: responseStatus.code, at };
    })
    .sort((a, b) => a.at.getTime() - b.at.getTime());
}
