// A password policy of Keycloak, `length(8) and digits(1) and notUsername(undefined)`, as settings; pure. docs/keycloak.md.

/** Hash settings don't apply to this server, and the other two rules always apply here. */
const silent = new Set(['hashAlgorithm', 'hashIterations', 'notUsername', 'notEmail']);
/** Rules that one rule of this server covers. */
const guessable = new Set(['passwordBlacklist', 'notContainsUsername']);
const least = 8;

const classes: Readonly<Record<string, string>> = {
  lowerCase: 'passwordRequireLowercase',
  upperCase: 'passwordRequireUppercase',
  digits: 'passwordRequireDigit',
  specialChars: 'passwordRequireSymbol',
};
const numbers: Readonly<Record<string, string>> = {
  passwordHistory: 'passwordHistory',
  forceExpiredPasswordChange: 'passwordMaxAgeDays',
};

export function passwordRules(
  policy: string,
  note: (field: string, why: string) => void,
): Record<string, number | boolean> {
  const settings: Record<string, number | boolean> = {};
  for (const rule of policy.split(' and ')) {
    const [, name = '', argument = ''] = /^\s*(\w+)(?:\((.*)\))?\s*$/s.exec(rule) ?? [];
    if (name === '' || silent.has(name)) continue;
    const field = `passwordPolicy.${name}`;
    const value = Number(argument);
    if (name === 'length') {
      settings.passwordMinLength = Math.max(least, value || least);
      if (value < least) note(field, `passwords that are set here have at least ${least} characters`);
    } else if (guessable.has(name)) {
      settings.guessablePasswordCheck = true;
      if (name === 'passwordBlacklist') note(field, 'this server’s own list of common passwords is asked instead');
    } else if (classes[name] !== undefined) {
      settings[classes[name]] = true;
      if (value > 1) note(field, 'one such character is enough here');
    } else if (numbers[name] !== undefined) settings[numbers[name]] = value;
    else note(field, 'has no counterpart here');
  }
  return settings;
}
