// The edits of a tree, with a way back.
import { useReducer } from 'react';
import type { Tree } from './tree-model.ts';

interface History {
  past: readonly Tree[];
  now: Tree;
  future: readonly Tree[];
  /** Typing into one field is one edit. */
  last: string | undefined;
}
type Action =
  | { do: 'edit'; tree: Tree; as: string | undefined }
  | { do: 'undo' | 'redo' }
  | { do: 'begin'; tree: Tree };
const MOST = 100;

function next(history: History, action: Action): History {
  const { past, now, future, last } = history;
  switch (action.do) {
    case 'begin':
      return { past: [], now: action.tree, future: [], last: undefined };
    case 'edit':
      if (action.tree === now) return history;
      return {
        past: action.as !== undefined && action.as === last ? past : [...past.slice(-MOST), now],
        now: action.tree,
        future: [],
        last: action.as,
      };
    case 'undo': {
      const before = past.at(-1);
      return before ? { past: past.slice(0, -1), now: before, future: [now, ...future], last: undefined } : history;
    }
    default: {
      const [after, ...rest] = future;
      return after ? { past: [...past, now], now: after, future: rest, last: undefined } : history;
    }
  }
}

export function useEdits(initial: Tree) {
  const [{ past, now, future }, act] = useReducer(next, { past: [], now: initial, future: [], last: undefined });
  return {
    steps: now,
    /** The tree that undo or redo would bring back. */
    before: past.at(-1),
    after: future[0],
    /** @param as what is edited, so that what follows on the same is undone with it */
    edit: (tree: Tree, as?: string) => act({ do: 'edit', tree, as }),
    undo: () => act({ do: 'undo' }),
    redo: () => act({ do: 'redo' }),
    begin: (tree: Tree) => act({ do: 'begin', tree }),
  };
}
