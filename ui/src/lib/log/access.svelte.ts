// How the tools of the rows in view stand now: asked for all of them at once, when there is one that is not known yet, after each
// act, and now and then, since rules can be changed elsewhere.
import type { Backend, CallLine, ToolAccess } from '../backend';

/** Rows that come by are asked for together, so long after the first. */
const gather = 80;
/** Names that are remembered; more than any window shows. */
const most = 500;

const keyOf = ({ server, client, tool, refused, rule }: CallLine): string =>
  JSON.stringify([server, client, tool, refused ? rule : null]);

export class AccessModel {
  #known: ReadonlyMap<string, ToolAccess> = $state.raw(new Map());
  readonly #backend: Backend;
  /** One call of each kind that is in view. */
  #inView = new Map<string, CallLine>();
  #timer: ReturnType<typeof setTimeout> | null = null;
  #asked = 0;
  #newest: Promise<void> = Promise.resolve();

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  /** None until it is known. */
  of(call: CallLine): ToolAccess | null {
    return this.#known.get(keyOf(call)) ?? null;
  }

  /** These calls are in view. */
  show(calls: readonly CallLine[]): void {
    this.#inView = new Map(calls.map((call) => [keyOf(call), call]));
    const isNew = [...this.#inView.keys()].some((key) => !this.#known.has(key));
    if (isNew) this.#timer ??= setTimeout(() => void this.refresh(), gather);
  }

  /** Asks again about everything in view; over when the newest answer is known. */
  refresh(): Promise<void> {
    this.#newest = this.#ask();
    return this.#newest;
  }

  async #ask(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const asked = [...this.#inView];
    if (asked.length === 0) return;
    const mine = ++this.#asked;
    const queries = asked.map(([, { server, client, tool, refused, rule }]) => ({
      server,
      client,
      tool,
      rule: refused ? rule : null,
    }));
    try {
      const answers = await this.#backend.access(queries);
      if (mine !== this.#asked) return this.#newest;
      const known = new Map(this.#known.size > most ? [] : this.#known);
      asked.forEach(([key], at) => answers[at] && known.set(key, answers[at]));
      this.#known = known;
    } catch {
      // Rows then offer what they did; an act that makes no sense says so itself.
    }
  }

  close(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#asked += 1;
    this.#newest = Promise.resolve();
  }
}
