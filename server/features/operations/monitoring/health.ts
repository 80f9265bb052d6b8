// Health as an array of components, and the two groups that decide on restarts and traffic. Pure but for the checks.
// Specification 4.9; decisions "Monitoring": if one optional component fails, the overall status is DOWN, and neither
// group changes.
import { withTimeLimit } from '../../../schedule/time-limit.ts';

/** A component with its check; a check that throws or takes too long is DOWN. */
export interface HealthComponent {
  name: string;
  /** The group whose status depends on the component, besides the overall status. */
  group?: 'liveness' | 'readiness';
  /** For so many milliseconds after the component was up its group does without it. */
  spareMs?: number;
  check(): Promise<boolean>;
}
export type HealthStatus = 'UP' | 'DOWN';
export type HealthGroup = 'liveness' | 'readiness';
export const groups: readonly HealthGroup[] = ['liveness', 'readiness'];

export interface HealthReport {
  status: HealthStatus;
  groups: readonly HealthGroup[];
  components: Record<string, { status: HealthStatus }>;
}

const CHECK_MS = 2_000;
/** Anonymous callers can't make the checks run more often than this. */
const KEEP_MS = 500;

const status = (up: boolean): HealthStatus => (up ? 'UP' : 'DOWN');

/** A component whose result is shared by concurrent callers and cached for {@link KEEP_MS}. */
function remembering(component: HealthComponent): HealthComponent & { suffices(): Promise<boolean> } {
  const { spareMs = 0 } = component;
  let last: { at: number; up: Promise<boolean> } | undefined;
  let upAt = Number.NEGATIVE_INFINITY;
  const check = () => {
    // A monotonic clock: tests may stop the server's clock.
    const at = performance.now();
    if (!last || at - last.at > KEEP_MS) {
      const up = bounded(component);
      last = { at, up };
      void up.then((isUp) => {
        if (isUp) upAt = at;
      });
    }
    return last.up;
  };
  return {
    ...component,
    check,
    /** Whether its group may be up. */
    suffices: async () => (await check()) || performance.now() - upAt < spareMs,
  };
}

function bounded(component: HealthComponent): Promise<boolean> {
  const checked = Promise.resolve()
    .then(() => component.check())
    .catch(() => false);
  return withTimeLimit(checked, CHECK_MS, () => false);
}

/**
 * `livenessState` and `readinessState` are the states of their groups: each is up while every component of its group is.
 * @param draining readiness is off while the server finishes running requests
 */
export function createHealth(all: readonly HealthComponent[], { draining }: { draining(): boolean }) {
  const components = all.map(remembering);
  const own = { liveness: async () => true, readiness: async () => !draining() };

  async function group(name: HealthGroup): Promise<HealthStatus> {
    const members = components.filter((component) => component.group === name);
    const up = await Promise.all([own[name](), ...members.map((component) => component.suffices())]);
    return status(up.every(Boolean));
  }

  return {
    group,
    async report(): Promise<HealthReport> {
      const results = await Promise.all(
        components.map(
          async ({ name, check }): Promise<[string, { status: HealthStatus }]> => [
            name,
            { status: status(await check()) },
          ],
        ),
      );
      const states = await Promise.all(
        groups.map(
          async (name): Promise<[string, { status: HealthStatus }]> => [`${name}State`, { status: await group(name) }],
        ),
      );
      const sorted = [...results, ...states].sort(([a], [b]) => (a < b ? -1 : 1));
      return {
        status: status(sorted.every(([, component]) => component.status === 'UP')),
        groups,
        components: Object.fromEntries(sorted),
      };
    },
  };
}
export type Health = ReturnType<typeof createHealth>;
