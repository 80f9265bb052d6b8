// Owns: how much memory hashes from elsewhere may take, which anybody can have computed who knows a username.
import { expect, test } from 'vitest';
import { createPasswords } from '../../../server/crypto/passwords.ts';
import { usablePhc } from '../../../server/crypto/phc.ts';

const MIB = 1024 * 1024;
const ofMemory = (mib: number) =>
  `$argon2id$v=19$m=${mib * 1024},t=1,p=1$${Buffer.alloc(16, 1).toString('base64')}$${Buffer.alloc(32, 2).toString('base64')}`
    .replaceAll('=$', '$')
    .replace(/=+$/, '');

test('what takes more than half of what all may take is refused when it is imported', () => {
  expect(usablePhc(ofMemory(128))).toBe(true);
  expect(usablePhc(ofMemory(129))).toBe(false);
  expect(usablePhc('$scrypt$ln=17,r=8,p=1$MDEyMzQ1Njc4OWFiY2RlZg$AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcY')).toBe(true);
  expect(usablePhc('$scrypt$ln=18,r=8,p=1$MDEyMzQ1Njc4OWFiY2RlZg$AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcY')).toBe(false);
});

test('checks of hashes from before wait for each other, all are answered, and nobody else waits for them', async () => {
  const passwords = createPasswords({ threads: 2, parameters: { memory: 8, passes: 1, lanes: 1 } });
  const mine = await passwords.hash('umbrella');
  await Promise.all([passwords.hash('a'), passwords.hash('b')]);
  const before = process.memoryUsage.rss();
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss() - before);
  }, 5);
  try {
    const heavy = Array.from({ length: 6 }, () => passwords.verify(ofMemory(256), 'guess'));
    expect((await passwords.verify(mine, 'umbrella')).ok).toBe(true);
    expect((await Promise.all(heavy)).map(({ ok }) => ok)).toEqual(heavy.map(() => false));
  } finally {
    clearInterval(watch);
    await passwords.stop();
  }
  expect(most).toBeLessThan(360 * MIB);
});
