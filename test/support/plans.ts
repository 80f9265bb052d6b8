// Owns: the plans by which PostgreSQL ran the statements of this process on one database, with the rows and pages that each part read.
// Does not own: which of them are too much (guards/growth.long.test.ts and others).
// Implements: tests of what a statement costs where there is much. PostgreSQL's auto_explain sends each plan along as a notice.
import pg from 'pg';
import { connectedCluster } from './cluster.ts';

export interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  Alias?: string;
  'Index Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  'Rows Removed by Join Filter'?: number;
  'Shared Hit Blocks'?: number;
  'Shared Read Blocks'?: number;
  'Subplan Name'?: string;
  Plans?: PlanNode[];
}
export interface Explained {
  text: string;
  plan: PlanNode;
}

export const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/** Rows of a table that a scan went through, whether it gave them or not; of other nodes none. */
export const readBy = (node: PlanNode): number =>
  node['Node Type'].includes('Scan') && node['Relation Name'] !== undefined
    ? node['Actual Loops'] *
      (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0))
    : 0;
export const rowsRead = (plan: PlanNode): number => nodesOf(plan).reduce((sum, node) => sum + readBy(node), 0);
export const pagesRead = (plan: PlanNode): number =>
  (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);

const SETTINGS = {
  log_min_duration: '0',
  log_analyze: 'on',
  log_buffers: 'on',
  log_timing: 'off',
  log_format: 'json',
  log_level: 'notice',
  // those of foreign keys, too
  log_nested_statements: 'on',
};

/** Of sessions that begin from now on. */
export async function explainAll(url: string): Promise<void> {
  await connectedCluster(url, async (client) => {
    const name = client.escapeIdentifier(new URL(url).pathname.slice(1));
    await client.query("load 'auto_explain'");
    await client.query(`alter database ${name} set session_preload_libraries = 'auto_explain'`);
    for (const [setting, value] of Object.entries(SETTINGS))
      await client.query(`alter database ${name} set auto_explain.${setting} = '${value}'`);
  });
}

/** Hears every plan that a connection of this process to such a database is sent, until it is stopped. */
export function hearPlans(heard: (explained: Explained) => void): { stop(): void } {
  const { connect } = pg.Client.prototype;
  const listen = (message: string | undefined) => {
    const found = /^duration: .*? plan:\s*(\{[\s\S]*\})$/.exec(message ?? '')?.[1];
    if (found === undefined) return;
    const { 'Query Text': text, Plan: plan }: { 'Query Text': string; Plan: PlanNode } = JSON.parse(found);
    heard({ text, plan });
  };
  pg.Client.prototype.connect = function (this: pg.Client, ...of: never[]) {
    this.on('notice', ({ message }) => listen(message));
    return Reflect.apply(connect, this, of);
  };
  return {
    stop() {
      pg.Client.prototype.connect = connect;
    },
  };
}
