// PKCS#11 (Cryptoki): hardware security modules and SoftHSM, by the vendor's module. The key is an AES key of the token; data keys are
// wrapped by CKM_AES_GCM. A PKCS#11 URI (RFC 7512) names all of it:
//   pkcs11:token=realmkeeper;object=master?module-path=/usr/lib/softhsm/libsofthsm2.so&pin-source=file:/run/secrets/pin
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type * as pkcs11 from 'pkcs11js';
import { errorWords } from '../../contract/error-words.ts';
import { type Custodian, CustodianError, WRAPPED_FOR } from '../custodian.ts';

type Library = typeof pkcs11;
type PKCS11 = pkcs11.PKCS11;

interface Place {
  module: string;
  pinFile: string;
  /** The token by its label or its serial number. */
  token: { label: string | undefined; serial: string | undefined };
  object: string | undefined;
  /** CKA_ID */
  id: Buffer | undefined;
}

const IV_BYTES = 12;
const TAG_BYTES = 16;
const FORM = 1;

const variable = (words: string) => new Error(`SVC_KEY_CUSTODIAN: ${words}`);

/** The attributes of a part of the URI; `;` parts those of the path, `&` those of the query. */
const attributes = (text: string, separator: string): Map<string, string> =>
  new Map(
    text.split(separator).flatMap((pair): [string, string][] => {
      const at = pair.indexOf('=');
      return at < 1 ? [] : [[pair.slice(0, at), pair.slice(at + 1)]];
    }),
  );

function bytesOf(text: string): Buffer {
  const parts = [...text.matchAll(/%([0-9a-fA-F]{2})|([^%])/g)];
  return Buffer.concat(
    parts.map(([, hex, plain = '']) => (hex === undefined ? Buffer.from(plain) : Buffer.from(hex, 'hex'))),
  );
}

/** @throws Error that names the variable */
export function pkcs11Place(uri: string): Place {
  const [path = '', query = ''] = uri.slice('pkcs11:'.length).split('?', 2);
  const [inPath, inQuery] = [attributes(path, ';'), attributes(query, '&')];
  const text = (from: Map<string, string>, name: string) => {
    const value = from.get(name);
    return value === undefined ? undefined : bytesOf(value).toString();
  };
  // It would stand in the environment, in reports and in the process list.
  if (inQuery.has('pin-value')) throw variable('give the PIN in a file, by pin-source, and not as pin-value');
  const module = text(inQuery, 'module-path');
  const pin = text(inQuery, 'pin-source');
  const token = { label: text(inPath, 'token'), serial: text(inPath, 'serial') };
  const object = text(inPath, 'object');
  const id = inPath.get('id');
  if (!module?.startsWith('/')) throw variable('must name the module’s file: module-path=/usr/lib/…/lib….so');
  if (pin === undefined || !/^(file:)?\//.test(pin))
    throw variable('must name the file with the PIN: pin-source=file:/run/secrets/pin');
  if (token.label === undefined && token.serial === undefined)
    throw variable('must name the token: token=LABEL or serial=NUMBER');
  if (object === undefined && id === undefined) throw variable('must name the key: object=LABEL or id=%01');
  const pinFile = pin.startsWith('file:') ? fileURLToPath(pin.replace(/^file:\/+/, 'file:///')) : pin;
  return { module, pinFile, token, object, id: id === undefined ? undefined : bytesOf(id) };
}

async function load(): Promise<Library> {
  try {
    return (await import('pkcs11js')).default;
  } catch (cause) {
    throw variable(
      `pkcs11: needs the package pkcs11js with its native code: docs/keys.md says how to build it (${errorWords(cause)})`,
    );
  }
}

/** The module is initialized once in a process. */
const modules = new Map<string, PKCS11>();
function moduleAt(file: string, { PKCS11: Module }: Library): PKCS11 {
  const there = modules.get(file);
  if (there) return there;
  const module = new Module();
  try {
    module.load(file);
    module.C_Initialize();
  } catch (error) {
    // CKR_CRYPTOKI_ALREADY_INITIALIZED: by another part of the process
    if (!errorWords(error).includes('ALREADY_INITIALIZED')) throw error;
  }
  modules.set(file, module);
  return module;
}

/** Faults that a new session mends, or time: everything but a wrong PIN or a missing key. */
const isAway = (error: unknown): boolean =>
  !/CKR_(PIN|KEY|USER|MECHANISM|ENCRYPTED_DATA|FUNCTION_NOT|ATTRIBUTE|TEMPLATE)/.test(errorWords(error));

interface Session {
  module: PKCS11;
  handle: Buffer;
  key: Buffer;
}

async function openSession(library: Library, place: Place): Promise<Session> {
  const pin = await readFile(place.pinFile, 'utf8').catch((cause: unknown) => {
    throw new CustodianError(`the PIN's file ${place.pinFile} can't be read`, { away: true, cause });
  });
  const module = moduleAt(place.module, library);
  const slots = module.C_GetSlotList(true).filter((slot) => {
    const { label, serialNumber } = module.C_GetTokenInfo(slot);
    const { label: wanted = label.trim(), serial = serialNumber.trim() } = place.token;
    return label.trim() === wanted && serialNumber.trim() === serial;
  });
  const [slot] = slots;
  if (!slot || slots.length > 1)
    throw new CustodianError(`the module has ${slots.length === 0 ? 'no such token' : 'several such tokens'}`, {
      away: !slot,
    });
  const handle = module.C_OpenSession(slot, library.CKF_SERIAL_SESSION);
  try {
    module.C_Login(handle, library.CKU_USER, pin.trim());
  } catch (error) {
    if (!errorWords(error).includes('ALREADY_LOGGED_IN')) throw error;
  }
  module.C_FindObjectsInit(handle, [
    { type: library.CKA_CLASS, value: library.CKO_SECRET_KEY },
    ...(place.object === undefined ? [] : [{ type: library.CKA_LABEL, value: place.object }]),
    ...(place.id === undefined ? [] : [{ type: library.CKA_ID, value: place.id }]),
  ]);
  const found = module.C_FindObjects(handle, 2);
  module.C_FindObjectsFinal(handle);
  const [key] = found;
  if (!key || found.length > 1)
    throw new CustodianError(`the token has ${found.length === 0 ? 'no such AES key' : 'several such keys'}`, {
      away: false,
    });
  return { module, handle, key };
}

export async function openPkcs11(uri: string): Promise<Custodian> {
  const place = pkcs11Place(uri);
  const library = await load();
  const name = uri.split('?')[0] ?? 'pkcs11:';
  let session: Promise<Session> | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const gcm = (iv: Buffer) => ({
    mechanism: library.CKM_AES_GCM,
    parameter: {
      type: library.CK_PARAMS_AES_GCM,
      iv,
      ivBits: IV_BYTES * 8,
      aad: Buffer.from(WRAPPED_FOR),
      tagBits: TAG_BYTES * 8,
    },
  });

  async function attempt<T>(work: (session: Session) => Promise<T>, again: boolean): Promise<T> {
    try {
      session ??= openSession(library, place);
      return await work(await session);
    } catch (error) {
      const old = session;
      session = undefined;
      await old?.then(({ module, handle }) => module.C_CloseSession(handle)).catch(() => {});
      if (error instanceof CustodianError) throw error;
      if (isAway(error) && again) return attempt(work, false);
      throw new CustodianError(errorWords(error), { away: isAway(error), cause: error });
    }
  }
  /** A session runs one operation at a time. */
  function alone<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const run = last.then(() => attempt(work, true));
    last = run.catch(() => {});
    return run;
  }

  return {
    name,
    wrap: (dataKey) =>
      alone(async ({ module, handle, key }) => {
        const iv = randomBytes(IV_BYTES);
        module.C_EncryptInit(handle, gcm(iv), key);
        const body = await module.C_EncryptAsync(handle, dataKey, Buffer.alloc(dataKey.length + TAG_BYTES + 16));
        return Buffer.concat([Buffer.from([FORM]), iv, body]);
      }),
    unwrap: (wrapped) =>
      alone(async ({ module, handle, key }) => {
        if (wrapped[0] !== FORM)
          throw new CustodianError('what is stored as a data key has an unknown form', { away: false });
        module.C_DecryptInit(handle, gcm(wrapped.subarray(1, 1 + IV_BYTES)), key);
        return module.C_DecryptAsync(handle, wrapped.subarray(1 + IV_BYTES), Buffer.alloc(wrapped.length + 16));
      }),
    async close() {
      await last;
      await session?.then(({ module, handle }) => module.C_CloseSession(handle)).catch(() => {});
      session = undefined;
    },
  };
}
