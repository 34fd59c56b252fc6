// Asking the gate again and again while somebody looks.
import { BackendError } from './backend';

/** Asks at once, and then every so often while the page is seen. Gives what ends it; an answer that comes later is dropped. */
export function again<T>(
  ask: () => Promise<T>,
  every: number,
  got: (found: T) => void,
  failed: (why: string | null) => void,
): () => void {
  let over = false;
  const load = async () => {
    try {
      const found = await ask();
      if (over) return;
      got(found);
      failed(null);
    } catch (thrown) {
      if (!over) failed(BackendError.from(thrown).message);
    }
  };
  void load();
  const timer = setInterval(() => document.visibilityState === 'visible' && void load(), every);
  return () => {
    over = true;
    clearInterval(timer);
  };
}
