// The page of the API's documentation: it opens collapsed, so that a browser shows hundreds of operations at once.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(async () => server?.stop());

test('the page opens collapsed, with its tags in order and without the schemas', async () => {
  const script = await (await fetch(`${server.baseUrl}/swagger-ui/static/swagger-initializer.js`)).text();
  expect(script).toMatch(/"docExpansion":\s*"none"/);
  expect(script).toMatch(/"tagsSorter":\s*"alpha"/);
  expect(script).toMatch(/"defaultModelsExpandDepth":\s*-1/);
});
