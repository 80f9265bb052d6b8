// Computes password hashes. It blocks its thread for as long as a hash takes and loads native code, so only the worker threads
// (password-worker.ts) import it: the event loop stays free and the start loads less.
import { pbkdf2Sync, randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';
import { hashRawSync } from '@node-rs/argon2';
import { hashSync } from 'bcryptjs';
import { passwordForm, passwordForms } from '../contract/password-form.ts';
import { type Argon2Parameters, bcryptHash, bcryptSalt, formatArgon2, HASH_BYTES, type Phc, parsePhc } from './phc.ts';

const ARGON2 = { argon2d: 0, argon2i: 1, argon2id: 2 } as const;
const MIB = 1024 * 1024;

function argon2(
  plain: string,
  kind: keyof typeof ARGON2,
  of: Argon2Parameters,
  salt: Buffer,
  outputLen: number,
): Buffer {
  return hashRawSync(plain, {
    algorithm: ARGON2[kind],
    memoryCost: of.memory,
    timeCost: of.passes,
    parallelism: of.lanes,
    salt,
    outputLen,
  });
}

/** @returns a PHC string of argon2id with a new salt */
export function hashPassword(plain: string, of: Argon2Parameters): string {
  const salt = randomBytes(16);
  return formatArgon2(of, salt, argon2(passwordForm(plain), 'argon2id', of, salt, HASH_BYTES));
}

/**
 * Tries every form of the password that the hash may be of. `rehash`: the password is right, but {@link hashPassword} would use
 * another algorithm, other parameters or another form today.
 */
export function verifyPassword(phc: string, plain: string, of: Argon2Parameters): { ok: boolean; rehash: boolean } {
  const parsed = parsePhc(phc);
  if (!parsed) return { ok: false, rehash: false };
  const form = passwordForms(plain).find((one) => timingSafeEqual(compute(parsed, one), parsed.hash));
  const ok = form !== undefined;
  const current =
    parsed.algorithm === 'argon2id' &&
    parsed.memory === of.memory &&
    parsed.passes === of.passes &&
    parsed.lanes === of.lanes;
  return { ok, rehash: ok && !(current && form === passwordForm(plain)) };
}

function compute(phc: Phc, plain: string): Buffer {
  const { salt, hash } = phc;
  if (phc.algorithm === 'scrypt') {
    const maxmem = 128 * phc.cost * phc.block + 128 * phc.block * phc.lanes + 32 * MIB;
    return scryptSync(plain, salt, hash.length, { N: phc.cost, r: phc.block, p: phc.lanes, maxmem });
  }
  if (phc.algorithm === 'bcrypt') return bcryptHash(hashSync(plain, bcryptSalt(phc.cost, salt)));
  if (phc.algorithm === 'pbkdf2') return pbkdf2Sync(plain, salt, phc.iterations, hash.length, phc.digest);
  return argon2(plain, phc.algorithm, phc, salt, hash.length);
}
