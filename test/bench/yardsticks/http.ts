// The limit of every answer over HTTP: node:http alone, with one ready text. Prints its port, as a server says that it listens.
import { createServer } from 'node:http';

const body = process.env.BODY ?? '';
const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(body) };
const server = createServer((_, response) => {
  response.writeHead(200, headers);
  response.end(body);
});
server.listen(Number(process.env.PORT), '127.0.0.1', () => console.error('listening'));
