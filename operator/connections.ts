// Connections for requests that act. Without the permit nothing is sent, even if the request began in time: a process
// may sleep while it connects. The connections can also be cut. A connection that is merely closed still delivers sent
// data, perhaps minutes later, when another operator leads; a cut discards undelivered data as far as possible.
// runtime/leader.ts decides when. Decisions "Custom resources": two operators never act at once.
import { connect as connectTcp, type Socket } from 'node:net';
import { Agent, buildConnector, type Dispatcher, setGlobalDispatcher } from 'undici';
import { demandPermit, mayAct, NotPermitted, type Permit } from './runtime/permit.ts';

const CONNECT_MS = 10_000;

export interface Connections {
  dispatcher(tls?: buildConnector.BuildOptions): Dispatcher;
  cut(): void;
}

export function createConnections(permit: Permit): Connections {
  const sockets = new Set<Socket>();
  function connector(tls: buildConnector.BuildOptions): buildConnector.connector {
    const secure = buildConnector({ allowH2: false, ...tls });
    return (options, callback) => {
      const { hostname, port, protocol } = options;
      const isTls = protocol === 'https:';
      const host = hostname.replace(/^\[(.*)\]$/, '$1');
      const socket = connectTcp({ host, port: Number(port || (isTls ? 443 : 80)), noDelay: true, keepAlive: true });
      const late = () => socket.destroy(new Error(`no connection to ${host} within ${CONNECT_MS / 1000} seconds`));
      const timer = setTimeout(late, CONNECT_MS);
      let connected = false;
      // checks the permit again: waiting requests would be sent at once, before any timer could report that the term is
      // over
      const ready: buildConnector.Callback = (...outcome) => {
        const [error, connection] = outcome;
        if (error !== null || mayAct(permit)) return callback(...outcome);
        connection.destroy();
        callback(new NotPermitted(), null);
      };
      sockets.add(socket);
      socket.once('close', () => {
        clearTimeout(timer);
        sockets.delete(socket);
      });
      socket.on('error', (error) => {
        // the user of the connection handles errors after it is established
        if (!connected) callback(error, null);
      });
      socket.once('connect', () => {
        connected = true;
        clearTimeout(timer);
        if (isTls) secure({ ...options, httpSocket: socket }, ready);
        else ready(null, socket);
      });
    };
  }
  return {
    dispatcher: (tls = {}) =>
      new Agent({ connect: connector(tls) }).compose((dispatch) => (options, handler) => {
        demandPermit(permit);
        return dispatch(options, handler);
      }),
    cut() {
      // a reset: the kernel discards data that waits to be sent
      for (const socket of sockets) socket.resetAndDestroy();
    },
  };
}

/** A `fetch` that uses only these connections. */
export const fetchBy =
  (dispatcher: Dispatcher): typeof globalThis.fetch =>
  (input, init) =>
    globalThis.fetch(input, Object.assign({ ...init }, { dispatcher }));

/** Sends all later requests of `fetch` over these connections. */
export function fetchOver(connections: Connections): void {
  setGlobalDispatcher(connections.dispatcher());
}
