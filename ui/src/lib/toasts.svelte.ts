// Short notes at the lower edge. One that can be undone stays as long as it can; the others leave by themselves.
import type { Restriction, Undo } from './backend';

export interface Toast {
  readonly id: number;
  words: string;
  detail: string | null;
  tone: 'plain' | 'error';
  undo: Undo | null;
  /** How to undo what the gate has no token for: the opposite act. */
  back: (() => Promise<void>) | null;
  /** What a person does next, a line each. */
  next: readonly string[];
  /** Other servers of this name, which the act does not cover: one click each. */
  also: readonly { readonly server: string; readonly run: () => void }[];
  /** When undo was first offered: the start of the ring. */
  sinceMs: number;
  /** A reason for the agent can be given. */
  reason: boolean;
  /** The reason as far as it is typed. */
  draft: string;
  /** What was done, to do it once more with a reason. */
  act: Restriction | null;
  /** Something is under way with its token. */
  busy: boolean;
  /** "enforced in 2 of 2 sessions". */
  enforced: string | null;
  /** A text to copy, such as the path of an export. */
  copy: string | null;
}

/** Why a toast stays: each reason ends by itself. */
export type Hold = 'pointer' | 'focus' | 'text';

const stay = { plain: 6_000, error: 15_000, afterUndo: 4_000, next: 15_000 };
/** As long as the gate takes an undo. */
const undoable = 10_000;

/** An undo by the opposite act, for as long as by a token. */
export const undoBy = (back: () => Promise<void>): Pick<Toast, 'undo' | 'back'> => ({
  undo: { token: '', untilMs: Date.now() + undoable },
  back,
});

export class Toasts {
  list: Toast[] = $state([]);
  #next = 1;
  #timers = new Map<number, ReturnType<typeof setTimeout>>();
  #held = new Map<number, Set<Hold>>();

  say(words: string, more: Partial<Omit<Toast, 'id' | 'words'>> = {}): Toast {
    const id = this.#next++;
    this.list.push({
      id,
      words,
      detail: null,
      tone: 'plain',
      undo: null,
      back: null,
      next: [],
      also: [],
      sinceMs: Date.now(),
      reason: false,
      draft: '',
      act: null,
      busy: false,
      enforced: null,
      copy: null,
      ...more,
    });
    // Three are readable; more hide the log.
    while (this.list.length > 3) this.close(this.#least().id);
    const toast = this.list.at(-1)!;
    this.leaveIn(id, this.#time(toast));
    return toast;
  }

  error(words: string, detail: string | null = null): Toast {
    return this.say(words, { tone: 'error', detail });
  }

  close(id: number): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    this.#held.delete(id);
    this.list = this.list.filter((toast) => toast.id !== id);
  }

  leaveIn(id: number, ms: number): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.set(
      id,
      setTimeout(() => this.close(id), ms),
    );
  }

  /** While somebody points at it, has the focus in it or has typed something into it, it stays. */
  hold(id: number, why: Hold): void {
    clearTimeout(this.#timers.get(id));
    this.#held.set(id, (this.#held.get(id) ?? new Set()).add(why));
  }

  release(id: number, why: Hold): void {
    const held = this.#held.get(id);
    held?.delete(why);
    const toast = this.list.find((one) => one.id === id);
    if (toast && !held?.size) this.leaveIn(id, this.#time(toast));
  }

  /** The one that is missed least: never the newest, and one that can be undone only if there is no other. */
  #least(): Toast {
    const older = this.list.slice(0, -1);
    const free = older.filter((toast) => !this.#held.get(toast.id)?.size);
    const now = Date.now();
    return free.find((toast) => !toast.undo || toast.undo.untilMs <= now) ?? free[0] ?? older[0]!;
  }

  #time(toast: Toast): number {
    const afterUndo = toast.undo ? Math.max(0, toast.undo.untilMs - Date.now()) + stay.afterUndo : 0;
    if (toast.undo) return Math.max(afterUndo, toast.next.length > 0 ? stay.next : 0);
    return toast.next.length > 0 ? stay.next : stay[toast.tone];
  }
}
