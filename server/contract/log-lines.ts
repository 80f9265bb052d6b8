// Lines of a program's own log, in the form of the server's log (server/log.ts): JSON, one object a line, the level by its name. The
// operator writes all of its log so, and the server what it says before it has a logger.

export interface LogLines {
  info(message: string, more?: object): void;
  warn(message: string, more?: object): void;
  error(message: string, more?: object): void;
}

/** @param write one line. A message of several lines becomes several objects, so that each can be read in a terminal. */
export function logLines(write: (line: string) => void, now: () => Date = () => new Date()): LogLines {
  const at =
    (level: 'info' | 'warn' | 'error') =>
    (message: string, more: object = {}): void => {
      for (const msg of message.split('\n').filter((line) => line.trim() !== ''))
        write(JSON.stringify({ level, time: now().toISOString(), ...more, msg }));
    };
  return { info: at('info'), warn: at('warn'), error: at('error') };
}
