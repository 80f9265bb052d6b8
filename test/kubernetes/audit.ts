// Owns: the API server's own record of who wrote what and when: its audit log.
// Does not own: what a test makes of it.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { stringify } from 'yaml';
import { z } from 'zod';

export interface AuditedWrite {
  user: string;
  verb: string;
  resource: string;
  name: string;
  /** When the request came. */
  at: Date;
}

const Entry = z.object({
  user: z.object({ username: z.string() }),
  verb: z.string(),
  objectRef: z.object({ resource: z.string(), name: z.string().default('') }),
  requestReceivedTimestamp: z.string(),
});

/** Every write, without what was written. Gives the policy's file. */
export async function writeAuditPolicy(folder: string): Promise<string> {
  const file = path.join(folder, 'audit-policy.yaml');
  const verbs = ['create', 'update', 'patch', 'delete', 'deletecollection'];
  const rules = [{ level: 'Metadata', verbs, omitStages: ['RequestReceived'] }, { level: 'None' }];
  await writeFile(file, stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }));
  return file;
}

/** In the order in which the requests came. */
export async function auditedWrites(folder: string): Promise<AuditedWrite[]> {
  const lines = (await readFile(path.join(folder, 'audit.log'), 'utf8')).split('\n').filter((line) => line !== '');
  return lines
    .map((line) => {
      const { user, verb, objectRef, requestReceivedTimestamp } = Entry.parse(JSON.parse(line));
      return { user: user.username, verb, ...objectRef, at: new Date(requestReceivedTimestamp) };
    })
    .sort((a, b) => a.at.getTime() - b.at.getTime());
}
