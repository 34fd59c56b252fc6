// Start, stop, restart and end: what a card and its table of processes do to a server, and the question before it.
import type { App } from '../../lib/app.svelte';

type Act = () => Promise<{ words: string }>;

/** What waits for an answer. */
export interface LossQuestion {
  /** "Stop playwright". */
  act: string;
  /** What it does, where that is asked whatever is at stake. */
  means: string | null;
  lost: string[];
  go: Act;
}

export class Power {
  busy = $state(false);
  asked: LossQuestion | null = $state.raw(null);
  readonly #app: App;
  readonly #name: () => string;
  readonly #changed: () => void;

  constructor(app: App, name: () => string, changed: () => void) {
    this.#app = app;
    this.#name = name;
    this.#changed = changed;
  }

  readonly start = () => this.#act(() => this.#app.backend.startServer(this.#name(), null));

  readonly restart = () =>
    this.#end(`Restart ${this.#name()}`, null, () => this.#app.backend.restartServer(this.#name(), null));

  readonly stop = () => this.#end(`Stop ${this.#name()}`, null, () => this.#app.backend.stopServer(this.#name(), null));

  /** Never without a question: unlike what is stopped, nothing says later that a person did it. */
  readonly endTree = (session: string) =>
    this.#end(
      `End the tree of ${this.#name()}`,
      session,
      () => this.#app.backend.endTree(session),
      'The server of this session ends with all that it started, as if it had ended by itself.',
    );

  readonly go = () => {
    const go = this.asked?.go;
    this.asked = null;
    if (go) void this.#act(go);
  };

  readonly stay = () => {
    this.asked = null;
  };

  /** Ends processes: at once, unless a call runs, a recording is open, or it has to be asked anyway. */
  async #end(act: string, session: string | null, go: Act, means: string | null = null) {
    this.busy = true;
    // What cannot be told is no reason not to end it.
    const lost = await this.#app.backend.atStake(this.#name(), session).catch(() => []);
    this.busy = false;
    if (lost.length > 0 || means !== null) this.asked = { act, means, lost, go };
    else await this.#act(go);
  }

  async #act(go: Act) {
    this.busy = true;
    try {
      this.#app.toasts.say((await go()).words);
      this.#changed();
    } catch (thrown) {
      this.#app.fail(thrown);
    } finally {
      this.busy = false;
    }
  }
}
