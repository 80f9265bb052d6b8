// Alerts and dashboards ask for what the programs really export, and each alert can be read and turned off.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createOperatorMetrics } from '../../operator/metrics.ts';
import { FEW_BUCKETS } from '../../server/http/request-metric.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { chart, helmAssets, render } from './helm.ts';

const assets = await helmAssets();
const enabled = ['--set', 'monitoring.rules.enabled=true,monitoring.dashboards.enabled=true'];
const Rule = z.object({
  alert: z.string(),
  expr: z.string(),
  for: z.string().optional(),
  labels: z.object({ severity: z.enum(['critical', 'warning', 'info']) }),
  annotations: z.object({ summary: z.string().min(1), description: z.string().min(1) }),
});
const Recording = z.object({
  record: z.string().regex(/^realmkeeper:(errors|slow):ratio_rate\w+$/),
  expr: z.string(),
  labels: z.object({ namespace: z.literal('identity'), service: z.string() }),
});
const Rules = z.object({
  spec: z.object({
    groups: z.tuple([
      z.object({ name: z.literal('realmkeeper-objectives'), rules: z.array(Recording) }),
      z.object({ name: z.literal('realmkeeper'), rules: z.array(Rule) }),
    ]),
  }),
});
const Dashboard = z.object({
  title: z.string(),
  panels: z.array(z.object({ id: z.number(), title: z.string(), targets: z.array(z.object({ expr: z.string() })) })),
});

/** Names of series in PromQL: of this product, of Node, and those of Prometheus and its exporters. */
const metricsIn = (expr: string): string[] =>
  expr.replaceAll(/\{[^}]*\}|"[^"]*"/g, ' ').match(/\b(?:svc|http_server|process|nodejs)_\w+/g) ?? [];

function isPromql(expr: string): boolean {
  let faults = 0;
  parser.parse(expr).iterate({ enter: ({ type }) => void (type.isError && faults++) });
  return faults === 0;
}

async function groupsOf(args: string[]): Promise<z.output<typeof Rules>['spec']['groups']> {
  const object = (await render([...enabled, ...args])).find(({ kind }) => kind === 'PrometheusRule');
  return Rules.parse(object).spec.groups;
}
const rulesOf = async (args: string[]): Promise<z.output<typeof Rule>[]> => (await groupsOf(args))[1].rules;

describe.skipIf(!assets.found)('monitoring', () => {
  let server: TestServer;
  let exported: Set<string>;
  beforeAll(async () => {
    server = await startTestServer();
    const texts = [
      await (await fetch(`${server.baseUrl}/actuator/metrics-text`)).text(),
      await createOperatorMetrics().text(),
    ];
    const types = texts.flatMap((text) => [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)]);
    exported = new Set(
      types.flatMap(([, name = '', type]) =>
        type === 'histogram'
          ? [`${name}_bucket`, `${name}_sum`, `${name}_count`]
          : type === 'summary'
            ? [name, `${name}_sum`, `${name}_count`]
            : [name],
      ),
    );
  });
  afterAll(() => server?.stop());

  test('every metric of an alert is exported', async () => {
    const rules = await rulesOf([]);
    expect(rules.length).toBeGreaterThanOrEqual(12);
    const asked = rules.flatMap(({ alert, expr }) => metricsIn(expr).map((name) => ({ alert, name })));
    expect(asked.length).toBeGreaterThan(10);
    expect(asked.filter(({ name }) => !exported.has(name))).toEqual([]);
  });

  test('every metric of a dashboard is exported, and the chart ships every dashboard', async () => {
    const files = readdirSync(path.join(chart, 'dashboards'));
    const shipped = (await render(enabled)).find(({ metadata }) => metadata.name === 'realmkeeper-dashboards');
    expect(Object.keys(z.record(z.string(), z.string()).parse(shipped?.data)).sort()).toEqual(files.sort());
    for (const file of files) {
      const { panels } = Dashboard.parse(JSON.parse(readFileSync(path.join(chart, 'dashboards', file), 'utf8')));
      const asked = panels.flatMap(({ title, targets }) =>
        targets.flatMap(({ expr }) => metricsIn(expr).map((name) => ({ title, name }))),
      );
      expect(asked.length).toBeGreaterThan(10);
      expect(asked.filter(({ name }) => !exported.has(name))).toEqual([]);
      expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    }
  });

  test('every metric of the operator is shown somewhere', () => {
    const shown = readFileSync(path.join(chart, 'dashboards/operator.json'), 'utf8');
    const missing = [...exported].filter((name) => name.startsWith('svc_operator_') && name.endsWith('_total'));
    expect(missing.filter((name) => !shown.includes(name))).toEqual([]);
  });

  test('each series that an alert of an objective reads is recorded, from exported metrics and existing buckets', async () => {
    const [{ rules: recorded }, { rules }] = await groupsOf(['--set', 'monitoring.rules.objectives.tokenSeconds=0.05']);
    const names = new Set(recorded.map(({ record }) => record));
    const read = rules.flatMap(({ expr }) => expr.match(/realmkeeper:\w+:\w+/g) ?? []);
    expect(read.length).toBeGreaterThanOrEqual(8);
    expect(read.filter((name) => !names.has(name))).toEqual([]);
    expect(recorded.flatMap(({ expr }) => metricsIn(expr)).filter((name) => !exported.has(name))).toEqual([]);
    const bounds = recorded.flatMap(({ expr }) => [...expr.matchAll(/le="([^"]+)"/g)].map(([, le]) => Number(le)));
    expect([...new Set(bounds)].sort()).toEqual([0.05, 1]);
    expect(bounds.filter((le) => !FEW_BUCKETS.includes(le))).toEqual([]);
  });

  test('every expression of rules and dashboards is PromQL', async () => {
    const [{ rules: recorded }, { rules }] = await groupsOf([]);
    const files = readdirSync(path.join(chart, 'dashboards'));
    const shown = files.flatMap((file) =>
      Dashboard.parse(JSON.parse(readFileSync(path.join(chart, 'dashboards', file), 'utf8'))).panels.flatMap(
        ({ targets }) => targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m')),
      ),
    );
    const all = [...[...recorded, ...rules].map(({ expr }) => expr), ...shown];
    expect(all.length).toBeGreaterThan(40);
    expect(all.filter((expr) => !isPromql(expr))).toEqual([]);
    expect(isPromql('sum by (a (rate(x[5m])')).toBe(false);
  });

  test('a budget burns at 14.4 times and 6 times the objective', async () => {
    const rules = await rulesOf(['--set', 'monitoring.rules.objectives.availability=99.5']);
    const fast = rules.find(({ alert }) => alert === 'RealmkeeperErrorBudgetBurnsFast');
    const bounds = [...(fast?.expr ?? '').matchAll(/> ([\d.e-]+)/g)].map(([, bound]) => Number(bound));
    expect(bounds.map((bound) => bound.toFixed(4))).toEqual(['0.0720', '0.0720']);
  });

  test('an alert can be turned off, and those of an operator that is elsewhere are not there', async () => {
    const names = async (...args: string[]) => (await rulesOf(args)).map(({ alert }) => alert);
    expect(await names()).toContain('RealmkeeperDrift');
    expect(await names('--set', 'monitoring.rules.alerts.RealmkeeperDrift=false')).not.toContain('RealmkeeperDrift');
    const without = await names('--set', 'operator.enabled=false');
    expect(without.filter((name) => /Operator|Reconciles|Drift|Watch/.test(name))).toEqual([]);
    expect(without).toContain('RealmkeeperServerDown');
  });
});
