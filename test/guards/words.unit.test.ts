// Words that this project once had of its own, each with the field's term for it. They don't come back, in names or comments.
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const instead: [word: RegExp, term: string, but?: RegExp][] = [
  [/\b(?:in)?lanes?\b/i, 'bulkhead, fair queue, group', /crypto\/|support\/server\.ts/],
  [
    /\bcreate(?:Gate|Turns|Groups|Gather|Ground|Held|Holder|Straight|Settling)\b/,
    'semaphore, batcher, … (server/schedule)',
  ],
  [/\b(?:hasty|haste)\b/i, 'short lock timeout'],
  [/\bbrisk\b/i, 'quick'],
  [/\bscarce\b/i, 'nearly full'],
  [/\bcrowded\b/i, 'overloaded'],
  [/\bdeaf\b/, 'dead (peer), unreachable', /server\/start\.ts/],
  [/\bunheard\b/i, 'without a subscriber'],
  [/\bnobody hears of\b/i, 'without an audit event'],
  [/\b(?:isNews|newsOf|DatabaseNews)\b/, 'change, event, outage'],
  [/\bunsettled\b/i, 'in flight'],
  [/\b(?:interface|type) Ask(?:ed|er|ing)?\b/, 'request, options', /sign-in\/(?:engine|judge)\.ts|test\/support/],
  [/\b(?:CameToBe|Unwritten|detoured)\b/, 'created meanwhile, planned only, failed'],
  [
    /\b(?:interface|type|async) (?:Way|Past|Settled|Trial|Told|Hears|goOn|wayOf)\b/,
    'context, progress, approval, guess count, listener',
  ],
  [/\b(?:const|function) (?:trial|heard|underWay|OnTheWay)\b/, 'count, in progress'],
  [/\b(?:newcomers?|askers?|asksNothing|askLater)\b/i, 'new user, requester, no rules, check'],
  [/\bkin\b/i, 'group'],
  [/\bthe house\b/i, 'the server, every layer'],
];

const files = globSync('{server,operator,cli,quickstart,test/support}/**/*.ts');

test.each(instead)('%s is not among the words', (word, term, but) => {
  const found = files
    .filter((file) => !but?.test(file))
    .flatMap((file) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .flatMap((line, i) => (word.test(line) ? [`${file}:${i + 1}: ${line.trim()} (write: ${term})`] : [])),
    );
  expect(found).toEqual([]);
});
