// Owns: an application in Python, by a library that we didn't write: getting that with Python's package manager, and running it.
// Does not own: what the application does (python-client.py), the person in front of it (test/server/features/clients.*.long.test.ts).
import path from 'node:path';
import { converse } from './conversation.ts';
import { createVenv } from './python.ts';

const venv = createVenv('authlib-client', ['Authlib==1.9.9', 'requests==2.34.2', 'cryptography==50.0.2']);

/** @throws where there is no Python of 3.11 or newer, or no registry to get it from */
export const obtainPythonClient = venv.obtain;

export const runPythonClient = (...args: string[]) =>
  converse(venv.python, [path.join(import.meta.dirname, 'python-client.py'), ...args]);
