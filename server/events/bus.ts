// The in-process bus: calls listeners with committed events. Listeners do only work that may be lost; durable work is a
// row. Design "One transaction": a throwing listener is logged and never harms another.
import type { DomainEvent } from '../contract/events.ts';

export interface Bus {
  on(listener: (event: DomainEvent) => void): void;
  emit(events: readonly DomainEvent[]): void;
}

export function createBus({ failed }: { failed(error: unknown): void }): Bus {
  const listeners: ((event: DomainEvent) => void)[] = [];
  return {
    on: (listener) => void listeners.push(listener),
    emit(events) {
      for (const event of events) {
        for (const listener of listeners) {
          try {
            listener(event);
          } catch (error) {
            failed(error);
          }
        }
      }
    },
  };
}
