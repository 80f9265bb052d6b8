// Owns: the operator's own small HTTP server: GET /healthz, /readyz and /metrics, for the kubelet and for Prometheus.
// Does not own: the metrics (metrics.ts). Off unless `--listen` names an address; it reveals nothing about any realm.
// Implements: probes. /readyz answers 200 once every existing resource has been listed. A standby is ready too, so that
// rollouts continue. /healthz answers 503 only for faults that a restart mends: the event loop was blocked for longer than
// a lease lives, or a pass runs for longer than any pass can. A server that can't be reached is no such fault.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createOperatorMetrics, type OperatorMetrics } from './metrics.ts';
import { systemTimers, type Timers } from './runtime/queue.ts';

/** A pass sends a dozen requests, each with a timeout of 30 seconds at most. A longer pass hangs for ever. */
const LONGEST_PASS_MS = 10 * 60_000;
const BEAT_MS = 1_000;
/** While the event loop is blocked for so long, this operator's Lease may expire. */
const LONGEST_BLOCK_MS = 10_000;
/** A block is reported for this time, so that several probes see it. */
const REMEMBERED_MS = 60_000;

/** The state that /healthz reads of the operators, once everything is listed. */
interface Watched {
  runningSince(): number | undefined;
}

export interface Monitoring {
  metrics: OperatorMetrics;
  port: number;
  /** Everything is listed: from now on the operator is ready. */
  follow(operator: Watched): void;
  stop(): Promise<void>;
}

export interface MonitoringOptions {
  host: string;
  port: number;
  timers?: Timers;
  /** false in tests. */
  processMetrics?: boolean;
}

/** @throws if the address can't be listened on */
export async function startMonitoring(options: MonitoringOptions): Promise<Monitoring> {
  const { host, port, timers = systemTimers, processMetrics = true } = options;
  const metrics = createOperatorMetrics({ processMetrics });
  const heart = createHeart(timers);
  let operator: Watched | undefined;

  function faults(): string[] {
    const since = operator?.runningSince();
    const running = since === undefined ? 0 : timers.now() - since;
    const found =
      running > LONGEST_PASS_MS ? [`a pass has been running for ${Math.round(running / 1000)} seconds`] : [];
    const blocked = heart.blocked();
    if (blocked !== undefined) found.push(`the event loop was blocked for ${Math.round(blocked / 1000)} seconds`);
    return found;
  }

  async function answer(path: string): Promise<{ status: number; body: string; type?: string }> {
    switch (path) {
      case '/healthz': {
        const found = faults();
        return found.length === 0 ? { status: 200, body: 'ok\n' } : { status: 503, body: `${found.join('\n')}\n` };
      }
      case '/readyz':
        return operator ? { status: 200, body: 'ok\n' } : { status: 503, body: 'resources are still being listed\n' };
      case '/metrics':
        return { status: 200, body: await metrics.text(), type: metrics.contentType };
      default:
        return { status: 404, body: 'not found\n' };
    }
  }

  async function respond({ method, url = '/' }: IncomingMessage, response: ServerResponse): Promise<void> {
    const reads = method === 'GET' || method === 'HEAD';
    const {
      status,
      body,
      type = 'text/plain; charset=utf-8',
    } = reads ? await answer(url.split('?', 1)[0] ?? '') : { status: 405, body: 'only GET\n' };
    response.writeHead(status, {
      'content-type': type,
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...(status === 405 && { allow: 'GET, HEAD' }),
    });
    response.end(method === 'HEAD' ? undefined : body);
  }

  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5_000 }, (request, response) => {
    respond(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const bound = server.address();
  return {
    metrics,
    port: bound !== null && typeof bound === 'object' ? bound.port : port,
    follow(what) {
      operator = what;
    },
    async stop() {
      heart.stop();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Beats every second: a late beat shows for how long the event loop was blocked. */
function createHeart(timers: Timers) {
  let blocked: { ms: number; at: number } | undefined;
  let due = timers.now() + BEAT_MS;
  function beat(): void {
    const now = timers.now();
    if (now - due > LONGEST_BLOCK_MS) blocked = { ms: now - due, at: now };
    due = now + BEAT_MS;
    cancel = timers.after(BEAT_MS, beat);
  }
  let cancel = timers.after(BEAT_MS, beat);
  return {
    blocked: () => (blocked && timers.now() - blocked.at < REMEMBERED_MS ? blocked.ms : undefined),
    stop: () => cancel(),
  };
}
