// The sign-in's machine by itself: what an input makes of a state, and what it asks of the world.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { NextStep } from '../../../server/features/authentication/sign-in/judge.ts';
import {
  advance,
  finishedState,
  type Input,
  reopenedState,
} from '../../../server/features/authentication/sign-in/machine.ts';
import {
  type IdentifiedState,
  SignInState,
  type UnidentifiedState,
} from '../../../server/features/authentication/sign-in/state.ts';

const purpose = { requiredLevel: 0, loginHint: '', request: null, continueAt: '/on' };
const ann = { id: '1', username: 'ann' };
const bob = { id: '2', username: 'bob' };
const password = { authenticator: 'password', at: 1 };
const unknown: UnidentifiedState = { is: 'unknown', version: 0, round: 0, purpose, kept: {} };
const known: IdentifiedState = {
  ...unknown,
  is: 'known',
  user: ann,
  factors: [password],
  credentials: { password: 'c1' },
  rememberMe: false,
  challenged: false,
};
const risk = { score: 50, band: 'medium' as const, action: 'step_up' as const, findings: [] };
const before = { id: 's', user: ann, factors: [password], rememberMe: true };

const ask = (authenticatorId: string): Extract<NextStep, { do: 'ask' }> => ({
  do: 'ask',
  executionId: `#${authenticatorId}`,
  authenticatorId,
  enrol: false,
  others: [{ executionId: '#other', authenticatorId: 'other', config: {} }],
  config: {},
});
const passed = (authenticator: string, user?: typeof ann): Input => ({
  do: 'answered',
  asked: ask(authenticator),
  verdict: { do: 'passed', credentialId: `${authenticator}-of-${user?.username}`, ...(user && { user }) },
  at: 2,
});
const go = (state: SignInState, input: Input) => advance(state, input, (id) => id === 'otp');
const doings = (state: SignInState, input: Input) => go(state, input).effects.map((effect) => effect.do);

test('a right answer makes somebody known, who is then scored and judged', () => {
  const { state, effects } = go(unknown, passed('password', ann));
  expect(state).toMatchObject({ is: 'known', user: ann, credentials: { password: 'password-of-ann' } });
  expect(effects.map((effect) => effect.do)).toEqual(['score', 'judge']);
  expect(doings({ ...known, risk }, passed('otp'))).toEqual(['judge']);
});

test('a wrong answer is told with its reason, and one that was no try is not', () => {
  const wrong = (reason: string): Input => ({
    do: 'answered',
    asked: ask('password'),
    verdict: { do: 'again', complaint: { field: 'password', message: 'No.', values: { username: 'ann' } }, reason },
    at: 2,
  });
  const [told] = go(unknown, wrong('wrong')).effects;
  expect(told).toMatchObject({ do: 'tell-failure', failure: { reason: 'wrong', name: 'ann', user: undefined } });
  expect(doings(unknown, wrong(''))).toEqual(['judge']);
  expect(go(known, wrong('wrong')).state).toMatchObject({ is: 'known', complaint: { field: 'password' } });
});

test('what was proven before counts for the person who proved it, and for nobody else', () => {
  const { state } = go({ ...known, before, risk, deviceKnown: true }, passed('password', bob));
  expect(state).toMatchObject({ user: bob, factors: [{ at: 2 }], credentials: { password: 'password-of-bob' } });
  expect(state.before?.factors).toEqual([]);
  expect(state).not.toHaveProperty('risk');
  expect(go({ ...unknown, before }, passed('password', ann)).state.before).toEqual(before);
});

test('a second factor is told of once, and a first one never', () => {
  const second: Input = { do: 'judged', nextStep: ask('otp') };
  const once = go(known, second);
  expect(once.effects).toEqual([{ do: 'tell-challenge', asked: ask('otp'), user: ann, risk: undefined }]);
  expect(doings(once.state, second)).toEqual([]);
  expect(doings(known, { do: 'judged', nextStep: ask('password') })).toEqual([]);
});

test('a refusal forgets what was proven, and leads nowhere but to a new beginning', () => {
  const { state, effects } = go(
    { ...known, risk },
    { do: 'judged', nextStep: { do: 'refused', because: 'no-second-factor' } },
  );
  expect(state).toEqual({ is: 'refused', version: 0, round: 0, purpose, user: ann, because: 'no-second-factor' });
  expect(effects).toEqual([{ do: 'tell-failure', failure: { reason: 'no-second-factor', user: ann, risk } }]);
  expect(go(state, passed('password', ann)).state).toBe(state);
  const restart: Input = { do: 'sent', form: { do: 'restart' }, nextStep: { do: 'refused', because: 'risk' } };
  expect(go(state, restart).state).toEqual({ ...unknown, round: 1, before: undefined });
  expect(go({ ...known, before }, restart).state).toEqual({
    ...unknown,
    round: 1,
    before: { ...before, factors: [], rememberMe: false },
  });
});

test('a form is for the step that is asked, or chooses one that is offered', () => {
  const send = (form: Record<string, string>) => go(unknown, { do: 'sent', form, nextStep: ask('password') });
  expect(send({ step: '#password' }).effects).toMatchObject([{ do: 'verify', asked: { authenticatorId: 'password' } }]);
  expect(send({ step: '#otp' })).toEqual({ state: unknown, effects: [] });
  expect(send({ do: 'choose', execution: '#other' }).state).toMatchObject({ chosen: '#other' });
  expect(send({ do: 'choose', execution: '#otp' }).state).toBe(unknown);
});

test('a new password takes the place of the one that the sign-in rests on', () => {
  const verdict = { do: 'done', renewed: { old: 'c1', now: 'c2' } } as const;
  const { state } = go(known, { do: 'answered', asked: { do: 'act', action: 'UPDATE_PASSWORD' }, verdict, at: 2 });
  expect(state).toMatchObject({ credentials: { password: 'c2' }, factors: [password] });
});

test('whatever comes in whatever order, the state is one that can be kept, and what is done stays done', () => {
  const inputs = fc.constantFrom<Input>(
    { do: 'begun' },
    { do: 'withdrawn' },
    { do: 'scored', risk },
    { do: 'judged', nextStep: ask('otp') },
    { do: 'judged', nextStep: { do: 'finish', level: 2 } },
    { do: 'judged', nextStep: { do: 'refused', because: 'risk' } },
    { do: 'sent', form: { do: 'restart' }, nextStep: ask('password') },
    { do: 'sent', form: { do: 'choose', execution: '#other' }, nextStep: ask('password') },
    { do: 'sent', form: { step: '#otp' }, nextStep: ask('otp') },
    passed('password', ann),
    passed('password', bob),
    passed('otp'),
  );
  fc.assert(
    fc.property(fc.constantFrom<SignInState>(unknown, known, { ...known, before }), fc.array(inputs), (first, all) => {
      let state = first;
      for (const input of all) {
        state = go(state, input).state;
        const { is } = state;
        expect(SignInState.parse(JSON.parse(JSON.stringify(state)))).toEqual(JSON.parse(JSON.stringify(state)));
        expect('factors' in state).toBe(is === 'known');
        if (state.is === 'known') {
          const done = finishedState(state, { sessionId: 's', at: 1, level: 1, since: 1 }, { spent: false });
          expect(go(done, input)).toEqual({ state: done, effects: [] });
          expect(reopenedState(done)).toMatchObject({ user: state.user, factors: state.factors });
        }
      }
    }),
  );
});
