// Connections that can be cut: what was sent and has not arrived yet is taken back as far as that is possible. A connection
// that is merely closed still delivers it, minutes later if need be, when another operator leads.
// It decides nothing about when that is. Decisions "Custom resources": two operators never act at once.
import { connect as connectTcp, type Socket } from 'node:net';
import { Agent, buildConnector, setGlobalDispatcher } from 'undici';

const CONNECT_MS = 10_000;

export interface Connections {
  connector(tls?: buildConnector.BuildOptions): buildConnector.connector;
  cut(): void;
}

export function createConnections(): Connections {
  const sockets = new Set<Socket>();
  return {
    connector(tls = {}) {
      const secure = buildConnector({ allowH2: false, ...tls });
      return (options, callback) => {
        const { hostname, port, protocol } = options;
        const isTls = protocol === 'https:';
        const host = hostname.replace(/^\[(.*)\]$/, '$1');
        const socket = connectTcp({ host, port: Number(port || (isTls ? 443 : 80)), noDelay: true, keepAlive: true });
        const late = () => socket.destroy(new Error(`no connection to ${host} within ${CONNECT_MS / 1000} seconds`));
        const timer = setTimeout(late, CONNECT_MS);
        let connected = false;
        sockets.add(socket);
        socket.once('close', () => {
          clearTimeout(timer);
          sockets.delete(socket);
        });
        socket.on('error', (error) => {
          // later ones are for who uses it
          if (!connected) callback(error, null);
        });
        socket.once('connect', () => {
          connected = true;
          clearTimeout(timer);
          if (isTls) secure({ ...options, httpSocket: socket }, callback);
          else callback(null, socket);
        });
      };
    },
    cut() {
      // a reset: what waits in the kernel to be sent is thrown away
      for (const socket of sockets) socket.resetAndDestroy();
    },
  };
}

/** From now on `fetch` goes over these. */
export function fetchOver(connections: Connections): void {
  setGlobalDispatcher(new Agent({ connect: connections.connector() }));
}
