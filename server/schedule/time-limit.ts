// A time limit: if work takes too long, its caller goes on with another value. The work itself is not stopped.

/** @param late the value in place of the result, if the work takes longer than `ms` */
export function withTimeLimit<T, Late>(work: Promise<T>, ms: number, late: () => Late): Promise<T | Late> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<Late>((resolve) => {
    timer = setTimeout(() => resolve(late()), ms);
  });
  return Promise.race([work, over]).finally(() => clearTimeout(timer));
}
