// Binds the route of contract/diagnostics.ts, which is for administrators of the whole server.
import type { FastifyInstance } from 'fastify';
import { getDiagnostics } from '../../../contract/diagnostics.ts';
import { bind } from '../../../http/bind.ts';
import type { May } from '../admin-access/may.ts';
import type { Diagnose } from './service.ts';

/** Headers of which a proxy sets at least one (RFC 7239; X-Forwarded-For by custom). */
const FORWARDING = ['forwarded', 'x-forwarded-for', 'x-forwarded-proto', 'x-real-ip'];

export function diagnosticsRoutes(
  app: FastifyInstance,
  { may, diagnose }: { may: Pick<May, 'requireEverywhere'>; diagnose: Diagnose },
): void {
  bind(app, getDiagnostics, async ({ request }) => {
    await may.requireEverywhere(request, 'realm:read');
    const { ip, headers, socket } = request;
    const forwarded = FORWARDING.some((name) => headers[name] !== undefined);
    return diagnose({ peer: socket.remoteAddress ?? ip, client: ip, forwarded });
  });
}
