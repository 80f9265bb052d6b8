// The limit of every sign-in with a password: argon2id with the server's parameters, in as many threads, and nothing else.
import { randomBytes } from 'node:crypto';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { hashRawSync } from '@node-rs/argon2';
import { answer } from '../processes.ts';

const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 };

if (isMainThread) {
  const threads = Number(process.argv[2]);
  const workers = Array.from({ length: threads }, () => new Worker(import.meta.filename, { workerData: {} }));
  answer<{ seconds: number }, number>(async ({ seconds }) => {
    const rates = workers.map(
      (worker) =>
        new Promise<number>((resolve, reject) => {
          worker.once('message', resolve);
          worker.once('error', reject);
          worker.postMessage(seconds);
        }),
    );
    return (await Promise.all(rates)).reduce((sum, rate) => sum + rate, 0);
  });
} else {
  void workerData;
  parentPort?.on('message', (seconds: number) => {
    const began = performance.now();
    let count = 0;
    while (performance.now() < began + seconds * 1000) {
      hashRawSync('a password of middling length', { ...PARAMETERS, salt: randomBytes(16) });
      count += 1;
    }
    parentPort?.postMessage(count / ((performance.now() - began) / 1000));
  });
}
