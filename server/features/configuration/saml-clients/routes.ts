// Binds the imports of contract/saml-clients.ts; the resource's own routes are server/resource's.
import type { FastifyInstance } from 'fastify';
import { importSamlClient, importSamlClientFromUrl, readSamlMetadata } from '../../../contract/saml-clients.ts';
import { bind } from '../../../http/bind.ts';
import { callerOf } from '../../../resource/routes.ts';
import { METADATA, textOf, XmlError } from '../../../xml/document.ts';
import type { SamlClientImport } from './import.ts';
import { metadataProblem } from './metadata.ts';

const XML = ['application/samlmetadata+xml', 'application/xml', 'text/xml'];

export function samlClientImportRoutes(app: FastifyInstance, imports: SamlClientImport): void {
  // Only in this scope a body may be XML.
  void app.register(async (scope) => {
    scope.addContentTypeParser(XML, { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => {
      try {
        return { metadata: textOf(body, METADATA) };
      } catch (error) {
        throw error instanceof XmlError ? metadataProblem({ path: 'metadata', message: error.message }) : error;
      }
    });
    bind(scope, importSamlClient, (call) => imports.fromText(callerOf(call), call.params.realm, call.body));
  });
  bind(app, readSamlMetadata, ({ params, body }) => imports.dryRun(params.realm, body));
  bind(app, importSamlClientFromUrl, (call) => imports.fromUrl(callerOf(call), call.params.realm, call.body));
}
