// Owns: a server of tools as MCP's own SDK has it, which a realm's access token opens.
// Does not own: the realm, and the clients (test/server/features/mcp.test.ts, mcp.enterprise.test.ts).
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose';
import { freePort } from './free-port.ts';

/** What it does for whom it lets in is the SDK's; whom that is, and where they come from, is the realm's. */
export async function startTools(issuer: string, described: 'by itself' | 'by the realm', scopes = ['email']) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/mcp`;
  const metadata =
    described === 'by itself'
      ? `http://127.0.0.1:${port}/.well-known/oauth-protected-resource/mcp`
      : `${issuer}/.well-known/oauth-protected-resource?${new URLSearchParams({ resource: url })}`;
  const keys = createRemoteJWKSet(new URL(`${issuer}/oauth2/jwks`));
  /** Per request: it keeps nothing. */
  async function toolsFor({ sub = '' }: JWTPayload) {
    const tools = new McpServer({ name: 'tools', version: '1.0.0' });
    tools.registerTool('whoami', {}, () => ({ content: [{ type: 'text', text: sub }] }));
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    await tools.connect(transport);
    return transport;
  }
  const http = createServer(async (request, response) => {
    if (request.url === '/.well-known/oauth-protected-resource/mcp' && described === 'by itself') {
      response.setHeader('content-type', 'application/json');
      const document = { resource: url, authorization_servers: [issuer], scopes_supported: scopes };
      return response.end(JSON.stringify(document));
    }
    if (request.url !== '/mcp') return response.writeHead(404).end();
    const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
    const checks = { issuer, audience: url, typ: 'at+jwt', algorithms: ['RS256'] };
    const verified = await jwtVerify(token, keys, checks).catch(() => undefined);
    if (verified) return (await toolsFor(verified.payload)).handleRequest(request, response);
    return response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${metadata}"` }).end();
  });
  await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve));
  const stop = () =>
    new Promise((resolve) => {
      http.close(resolve);
      http.closeAllConnections();
    });
  return { url, stop };
}
