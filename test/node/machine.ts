// Owns: whether this machine can be a node, and getting what it then needs.
// Does not own: starting it (node.ts).
import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { errorWords } from '../../server/contract/error-words.ts';
import { NotPromised, obtainEngine } from '../containers/engine.ts';
import { obtainBases } from '../containers/images.ts';
import { type Bundle, kubernetes, node } from '../kubernetes/assets.ts';
import { obtain } from '../kubernetes/obtain.ts';
import { obtainPostgresql } from './images.ts';

const execute = promisify(execFile);

/** Debian's folder of the plugins that give a Pod its network. */
export const NETWORK_PLUGINS = '/usr/lib/cni';

const NEEDED: [what: string, why: string][] = [
  ['/sys/fs/cgroup', 'control groups'],
  ['/dev/kmsg', 'the kernel’s log, which kubelet reads'],
  ...['ptp', 'host-local', 'loopback'].map((name): [string, string] => [
    path.join(NETWORK_PLUGINS, name),
    'containernetworking-plugins',
  ]),
];
const PROGRAMS = ['runc', 'ip', 'iptables', 'iptables-save', 'iptables-restore', 'mount', 'umount'];

/** Fails with `NotPromised` where no Pod can run; `reason` says what is missing. */
async function checkMachine(): Promise<void> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    throw new NotPromised('only root on Linux can make a node: it mounts, makes links and control groups');
  for (const [file, why] of NEEDED)
    await access(file).catch(() => {
      throw new NotPromised(`there is no ${file} (${why}), without which this machine can't be a node`);
    });
  for (const program of PROGRAMS)
    await execute('sh', ['-c', 'command -v "$1"', 'sh', program]).catch(() => {
      throw new NotPromised(`there is no ${program}, without which this machine can't be a node`);
    });
  // what a node leaves behind is taken away by the names that all Kubernetes' rules have
  const { stdout: rules } = await execute('iptables-save', ['-t', 'nat']).catch(() => ({ stdout: '' }));
  if (rules.includes('KUBE-'))
    throw new NotPromised(
      'this machine has rules of a Kubernetes node in iptables already: another one is at work here',
    );
  // a root that may do none of this is one within a container
  await execute('unshare', ['--net', '--mount', 'sh', '-c', 'mount -t tmpfs none /mnt && ip link set lo up']).catch(
    () => {
      throw new NotPromised('this root may not make namespaces and mount: it is one within a container');
    },
  );
}

/** Programs and base images; throws `NotPromised` where the machine is none for it. */
export async function obtainNode(log: (message: string) => void): Promise<void> {
  if (process.getuid?.() === 0) await obtainEngine(log);
  await checkMachine();
  await obtainBundle(kubernetes, log);
  await obtainBases(log);
  // of what no other test needs, nothing was promised
  try {
    await obtainBundle(node, log);
    await obtainPostgresql(log);
  } catch (error) {
    throw new NotPromised(errorWords(error));
  }
}

async function obtainBundle(bundle: Bundle, log: (message: string) => void): Promise<void> {
  const { dir, source } = await obtain(bundle, process.env, log);
  log(`${bundle.name} ${bundle.version}: ${dir} (${source})`);
}
