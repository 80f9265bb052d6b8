// A refusal of the Kubernetes API, for all its callers.

/** The API server answered with a status other than 200. */
export class ApiFailure extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
