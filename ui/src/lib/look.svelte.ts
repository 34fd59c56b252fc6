// "Since you last looked": read when the window comes before somebody, and kept until it has been away again. That somebody is
// looking is put on record every half minute, so that an end without warning costs no more than that.
import type { Backend, SinceLastLook } from './backend';

const every = 30_000;
/** Who was away for less has not missed anything, unless something was refused. */
const away = 5 * 60_000;

export class Look {
  since: SinceLastLook | null = $state.raw(null);
  readonly #backend: Backend;
  #away = true;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  start(): () => void {
    const see = () => void this.#see();
    const timer = setInterval(see, every);
    document.addEventListener('visibilitychange', see);
    see();
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', see);
    };
  }

  /** Seen: do not show it any longer. */
  dismiss(): void {
    this.since = null;
    void this.#backend.looked().catch(() => undefined);
  }

  async #see(): Promise<void> {
    if (document.visibilityState !== 'visible') {
      // What happens from now on is news.
      if (!this.#away) await this.#backend.looked().catch(() => undefined);
      this.#away = true;
      return;
    }
    try {
      if (this.#away) this.since = worthSaying(await this.#backend.sinceLastLook());
      this.#away = false;
      await this.#backend.looked();
    } catch {
      // Only a courtesy: the log itself says when it cannot be read.
    }
  }
}

const worthSaying = (since: SinceLastLook): SinceLastLook | null =>
  Date.now() - since.sinceMs >= away || since.refused > 0 ? since : null;
