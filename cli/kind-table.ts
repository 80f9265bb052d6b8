// The kinds of objects that commands know, in the order of their help.
import { configurationKinds } from './configuration-kinds.ts';
import { plainKinds } from './declared-kinds.ts';
import type { Kind } from './kinds.ts';
import { runTimeKinds } from './run-time-kinds.ts';

export const kinds: readonly Kind[] = [...configurationKinds, ...plainKinds, ...runTimeKinds];
