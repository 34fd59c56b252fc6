// Asking the gate again and again while somebody looks: late answers, errors and a hidden page in one place.
import { untrack } from 'svelte';
import { BackendError } from './backend';

/** Ends it: no answer counts any more. */
export interface Poll {
  (): void;
  /** Asks before its time. */
  now(): Promise<void>;
}

/**
 * Asks at once, and then every so often (never again without `every`) while the page is seen, and when it is seen again. A
 * question that takes long is waited for, an older answer never undoes a newer one, and what a question reads does not start
 * it anew. `failed` gets null with each answer.
 */
export function poll<T>(
  ask: () => Promise<T>,
  every: number | null,
  got: (found: T) => void = () => undefined,
  failed: (error: BackendError | null) => void = () => undefined,
): Poll {
  let [over, asked, shown, waiting] = [false, 0, 0, 0];
  let timer: ReturnType<typeof setInterval> | undefined;

  async function now(): Promise<void> {
    const mine = ++asked;
    waiting += 1;
    try {
      const found = await untrack(ask);
      if (over || mine < shown) return;
      shown = mine;
      got(found);
      failed(null);
    } catch (thrown) {
      if (!over && mine >= shown) failed(BackendError.from(thrown));
    } finally {
      waiting -= 1;
    }
  }

  /** A hidden page wakes nobody. */
  function seen(): void {
    clearInterval(timer);
    if (document.visibilityState !== 'visible' || every === null) return;
    due();
    timer = setInterval(due, every);
  }
  const due = () => waiting === 0 && void now();

  void now();
  seen();
  document.addEventListener('visibilitychange', seen);
  const end = () => {
    over = true;
    clearInterval(timer);
    document.removeEventListener('visibilitychange', seen);
  };
  return Object.assign(end, { now });
}
