// Binds the route of contract/diagnostics.ts, which is for administrators of the whole server.
import type { FastifyInstance } from 'fastify';
import { getDiagnostics } from '../../../contract/diagnostics.ts';
import { principalOf } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import type { Monitoring } from '../monitoring/service.ts';
import type { Diagnose } from './service.ts';

/** Headers of which a proxy sets at least one (RFC 7239; X-Forwarded-For by custom). */
const FORWARDING = ['forwarded', 'x-forwarded-for', 'x-forwarded-proto', 'x-real-ip'];

export function diagnosticsRoutes(
  app: FastifyInstance,
  { monitoring, diagnose }: { monitoring: Pick<Monitoring, 'require'>; diagnose: Diagnose },
): void {
  bind(app, getDiagnostics, async ({ request }) => {
    const { ip, method, url: path, headers, socket } = request;
    await monitoring.require('realm:read', { principal: principalOf(request), ip, method, path });
    const forwarded = FORWARDING.some((name) => headers[name] !== undefined);
    return diagnose({ peer: socket.remoteAddress ?? ip, client: ip, forwarded });
  });
}
