// The admin session's cookie: scripts can't read it, and forms of other sites don't send it.
import type {} from '@fastify/cookie';
import type { FastifyReply } from 'fastify';
import { ADMIN_SESSION_COOKIE, CSRF_COOKIE } from './surface.ts';

const attributes = (baseUrl: string) =>
  ({ path: '/admin', httpOnly: true, sameSite: 'lax', secure: baseUrl.startsWith('https:') }) as const;

export function setSession(reply: FastifyReply, baseUrl: string, cookie: string): void {
  void reply.setCookie(ADMIN_SESSION_COOKIE, cookie, attributes(baseUrl));
}

export function forgetSession(reply: FastifyReply, baseUrl: string): void {
  void reply.clearCookie(ADMIN_SESSION_COOKIE, attributes(baseUrl));
  void reply.clearCookie(CSRF_COOKIE, { path: '/', sameSite: 'lax', secure: baseUrl.startsWith('https:') });
}
