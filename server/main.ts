// `npm run server`: the server alone, without examples or a demonstration user. Stops gracefully on a signal. Only this
// file reads the environment. Decisions "Where it listens, what it reads".
import { BadEnvironment } from './config.ts';
import { errorWords } from './contract/error-words.ts';
import { logLines } from './contract/log-lines.ts';
import { yieldToEventLoop } from './crypto/signing-threads.ts';
import { type RunningServer, startServer } from './start.ts';

const log = logLines((line) => console.error(line));
const say = (line: string) => log.info(line);

async function main(): Promise<void> {
  // before anything starts, so that an early stop leaves nothing behind
  const interrupt = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => interrupt.abort());
  let server: RunningServer;
  try {
    server = await startServer(process.env, say);
  } catch (error) {
    log.error(error instanceof BadEnvironment ? error.message : `Cannot start: ${errorWords(error)}`);
    process.exitCode = 1;
    return;
  }
  let stopping = false;
  const stop = async (code: number) => {
    if (stopping) return;
    stopping = true;
    await server.stop();
    process.exit(code);
  };
  if (interrupt.signal.aborted) return stop(0);
  interrupt.signal.addEventListener('abort', () => void stop(0));
  say(`Realmkeeper listens on ${server.address}; its base address is ${server.config.baseUrl}`);
  await yieldToEventLoop();
  const failure = await server.failed;
  log.error(failure.message);
  await stop(1);
}

const args = process.argv.slice(2);
if (args.length === 0) await main();
else {
  const { answerArguments } = await import('./usage.ts');
  process.exitCode = answerArguments(args, 'server', {
    started: process.argv[1],
    out: console.log,
    fault: console.error,
  });
}
