// The logger of one request, with its id: created with the first line, since most requests write none.
import type { FastifyBaseLogger } from 'fastify';

type Bindings = Parameters<FastifyBaseLogger['child']>[0];
type Options = Parameters<FastifyBaseLogger['child']>[1];

class RequestLog implements FastifyBaseLogger {
  readonly #log: FastifyBaseLogger;
  readonly #bindings: Bindings;
  readonly #options: Options;
  #own: FastifyBaseLogger | undefined;

  constructor(log: FastifyBaseLogger, bindings: Bindings, options: Options) {
    this.#log = log;
    this.#bindings = bindings;
    this.#options = options;
  }
  get own(): FastifyBaseLogger {
    this.#own ??= this.#log.child(this.#bindings, this.#options);
    return this.#own;
  }
  get level(): string {
    return this.own.level;
  }
  child(bindings: Bindings, options?: Options): FastifyBaseLogger {
    return this.own.child(bindings, options);
  }
  fatal(...line: unknown[]): void {
    Reflect.apply(this.own.fatal, this.own, line);
  }
  error(...line: unknown[]): void {
    Reflect.apply(this.own.error, this.own, line);
  }
  warn(...line: unknown[]): void {
    Reflect.apply(this.own.warn, this.own, line);
  }
  info(...line: unknown[]): void {
    Reflect.apply(this.own.info, this.own, line);
  }
  debug(...line: unknown[]): void {
    Reflect.apply(this.own.debug, this.own, line);
  }
  trace(...line: unknown[]): void {
    Reflect.apply(this.own.trace, this.own, line);
  }
  silent(...line: unknown[]): void {
    Reflect.apply(this.own.silent, this.own, line);
  }
}

/** Fastify's `childLoggerFactory`. */
export const requestLog = (log: FastifyBaseLogger, bindings: Bindings, options: Options): FastifyBaseLogger =>
  new RequestLog(log, bindings, options);
