// The variables for the keys that seal what is stored: keys themselves, or their custodian (docs/keys.md). config.ts parses the environment.
import { z } from 'zod';
import { cloudKeySettings } from './key-settings-clouds.ts';
import { number, wholeNumber } from './settings-numbers.ts';

const key = z
  .string()
  .transform((s) => Buffer.from(s, 'base64'))
  .refine((b) => b.length === 32, 'must be 32 bytes in base64 (openssl rand -base64 32)');

const keyring = z
  .string()
  .transform((s) => s.split(',').map((part) => part.trim()))
  .pipe(z.array(key).min(1));
/** The text of a keyring. Undefined: it isn't one. */
export const parseKeyring = (text: string): readonly Buffer[] | undefined => keyring.safeParse(text).data;

export const keySettings = {
  SVC_MASTER_KEY: keyring
    .optional()
    .describe('Keyring: base64 keys of 32 bytes, separated by commas, the newest first'),
  SVC_MASTER_KEY_FILE: z.string().optional().describe('A file with this keyring, read again when it changes'),
  SVC_KEY_CUSTODIAN: z
    .string()
    .regex(
      /^(pkcs11:(?!\/)|(hashivault|openbao|awskms|gcpkms|azurekeyvault):\/\/)/,
      'must begin with pkcs11:, hashivault://, openbao://, awskms://, gcpkms:// or azurekeyvault://',
    )
    .refine((uri) => URL.canParse(uri), 'must be an address as docs/keys.md has it')
    .optional()
    .describe('The custodian whose key wraps the data keys, which seal what is stored'),
  SVC_KEY_CUSTODIAN_WAIT_SECONDS: number()
    .min(0)
    .max(3600)
    .default(60)
    .describe('How long a start waits for the custodian'),
  SVC_DATA_KEY_CACHE_SECONDS: number()
    .min(60)
    .max(31_536_000)
    .default(86_400)
    .describe('How long unwrapped data keys serve without the custodian'),
  SVC_DATA_KEY_DAYS: wholeNumber()
    .min(1)
    .max(3650)
    .optional()
    .describe('Data keys that are older are replaced, and what they seal is sealed again'),
  SVC_VAULT_TOKEN_FILE: z.string().optional().describe('A file with the token for Vault'),
  SVC_VAULT_ROLE: z.string().optional().describe('The role of Vault’s Kubernetes authentication, instead of a token'),
  SVC_VAULT_AUTH_PATH: z
    .string()
    .regex(/^[\w-]+(\/[\w-]+)*$/, 'must be a path such as kubernetes')
    .default('kubernetes'),
  SVC_VAULT_JWT_FILE: z.string().optional().describe('The service account’s token, if it is at another place'),
  SVC_VAULT_NAMESPACE: z
    .string()
    .regex(/^[\x21-\x7e]+$/)
    .optional(),
  ...cloudKeySettings,
};

/** Each of these has the keys that seal what is stored, or gets them. */
const KEY_SOURCES = ['SVC_MASTER_KEY', 'SVC_MASTER_KEY_FILE', 'SVC_KEY_CUSTODIAN'];

/** Rules over several of these variables. */
export function keyFaults(env: Readonly<Record<string, string | undefined>>): string[] {
  const faults: string[] = [];
  if (env.DATABASE_URL !== undefined && KEY_SOURCES.every((name) => env[name] === undefined)) {
    faults.push('SVC_MASTER_KEY: is required with DATABASE_URL (openssl rand -base64 32)');
  }
  if (env.SVC_MASTER_KEY !== undefined && env.SVC_MASTER_KEY_FILE !== undefined) {
    faults.push('SVC_MASTER_KEY_FILE: must not be set beside SVC_MASTER_KEY');
  }
  if (/^(hashivault|openbao):/.test(env.SVC_KEY_CUSTODIAN ?? '') && !env.SVC_VAULT_TOKEN_FILE && !env.SVC_VAULT_ROLE) {
    faults.push('SVC_VAULT_ROLE: is needed with SVC_KEY_CUSTODIAN, or SVC_VAULT_TOKEN_FILE');
  }
  return faults;
}
