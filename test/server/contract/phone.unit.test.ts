import { expect, test } from 'vitest';
import { withoutOldConfirmation } from '../../../server/contract/phone.ts';

const [OLD, NEW, YES] = [['+4917'], ['+4918'], ['true']];
const confirmed = { phone_number: OLD, phone_number_verified: YES };

test.each([
  ['the same number', confirmed, confirmed, {}, confirmed],
  ['another number', confirmed, { phone_number: NEW, phone_number_verified: YES }, {}, { phone_number: NEW }],
  ['no number any more', confirmed, { phone_number_verified: YES }, {}, {}],
  ['a first number', { phone_number_verified: YES }, confirmed, {}, { phone_number: OLD }],
  [
    'another number from who says that it is confirmed',
    confirmed,
    { phone_number: NEW, phone_number_verified: YES },
    { phone_number_verified: YES },
    { phone_number: NEW, phone_number_verified: YES },
  ],
])('%s keeps a confirmation only where it is the number that was confirmed', (_, was, attributes, says, kept) => {
  expect(withoutOldConfirmation(was, attributes, says)).toEqual(kept);
});
