// What a request says of its client: its credentials, its address, and the certificate of its connection.
import type { FastifyRequest } from 'fastify';
import { certificateOf } from '../../../http/client-certificate.ts';
import type { Form } from '../../../http/form.ts';
import { formOf, realmOf } from '../../../http/oauth.ts';
import type { ClientRequest } from './service.ts';

export const clientRequestOf = (request: FastifyRequest, form: Form = formOf(request)): ClientRequest => ({
  realm: realmOf(request),
  authorization: request.headers.authorization,
  form,
  address: request.ip,
  certificate: certificateOf(request),
});
