// The desk for component tests: the page's own backend, which hears what the real desk said when it was asked
// (`bridge/record.mjs`). A test says what is to be answered otherwise, and looks at what was asked.
import { tauriBackend, type Backend, type Commands, type LogBatch, type LogEntry, type UiError } from '../lib/backend';
import first from './recordings/first.json?raw';
import used from './recordings/used.json?raw';
import type { CallEntry } from '../lib/log/key';
import { call } from './lines';

/** The moment of every recording; what is told from it is told from now. */
const recordedMs = Date.UTC(2026, 0, 5, 12);
/** A recording is for what it was asked about; other arguments make no difference. */
const about = ['server', 'id', 'act', 'entry'];

type CommandName = keyof Commands;
type Given<K extends CommandName> = Awaited<ReturnType<Commands[K]>>;
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the arguments of any command, by their names
type Args = Record<string, any>;
interface RecordedAnswer {
  args: Args;
  ok?: unknown;
  error?: UiError;
}
type Listener = { give: (batch: LogBatch) => void; end: (error: UiError) => void };

export const diskFull: UiError = {
  code: 'failed',
  message: 'The record cannot be read: the disk is full. Free some space and try again.',
  detail: 'SQLITE_FULL: database or disk is full',
};

const camel = (command: string) => command.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

export class RecordedDesk {
  readonly backend: Backend;
  readonly #recordings: Record<string, RecordedAnswer[]>;
  readonly #answers = new Map<string, (args: Args) => unknown>();
  readonly #asked: { command: string; args: Args }[] = [];
  #listeners: Listener[] = [];
  #batches: LogBatch[] = [];
  #rev: number;

  /** `used`: a person with some weeks of use; `first`: nothing has ever happened. */
  constructor(home: 'used' | 'first' = 'used') {
    const later = Date.now() - recordedMs;
    this.#recordings = JSON.parse(home === 'used' ? used : first, (key, value: unknown) =>
      key.endsWith('Ms') && typeof value === 'number' && value > recordedMs / 2 ? value + later : value,
    ) as Record<string, RecordedAnswer[]>;
    this.#rev = this.recorded('logPage').rev;
    this.answer('access', ({ queries }) => (queries as unknown[]).map(() => ({ kind: 'open' as const })));
    Object.assign(globalThis, {
      __TAURI_INTERNALS__: {
        invoke: (command: string, args: Args = {}) => this.#invoke(camel(command), args),
        transformCallback: () => 0,
        unregisterCallback: () => undefined,
      },
      __TAURI_EVENT_PLUGIN_INTERNALS__: { unregisterListener: () => undefined },
    });
    this.backend = tauriBackend();
  }

  /** All that a command answered when it was recorded. */
  all<K extends CommandName>(command: K): Given<K>[] {
    return structuredClone(
      (this.#recordings[command] ?? []).flatMap(({ ok }) => (ok === undefined ? [] : [ok])),
    ) as Given<K>[];
  }

  /** What it answered when it was asked about this. */
  recorded<K extends CommandName>(command: K, args: Args = {}): Given<K> {
    return this.#find(command, args).ok as Given<K>;
  }

  /** From now on this is the answer. */
  answer<K extends CommandName>(command: K, answer: Given<K> | ((args: Args) => Given<K> | Promise<Given<K>>)): void {
    this.#answers.set(command, typeof answer === 'function' ? answer : () => answer);
  }

  /** From now on it fails, whatever it is asked. */
  fail(command: CommandName | 'follow', error: Partial<UiError> = {}): void {
    this.#answers.set(command, () => Promise.reject({ ...diskFull, ...error }));
  }

  /** As it was recorded again. */
  mend(command: CommandName): void {
    this.#answers.delete(command);
  }

  /** With what a command was asked so far. */
  asked(command: CommandName): Args[] {
    return this.#asked.filter((one) => one.command === command).map(({ args }) => args);
  }

  /** A call that is newer than all recorded ones. */
  newer(more: Partial<CallEntry> = {}): CallEntry {
    this.#rev += 1;
    return call(this.#rev, { atMs: Date.now(), firstMs: Date.now(), ...more });
  }

  /** These arrive in the log. */
  come(...entries: LogEntry[]): void {
    const batch = { entries, rev: this.#rev, skipped: 0, reset: false, problem: null };
    const listener = this.#listeners.shift();
    if (listener) listener.give(batch);
    else this.#batches.push(batch);
  }

  #find(command: string, args: Args): RecordedAnswer {
    const fits = ({ args: recorded }: RecordedAnswer) =>
      about.every((name) => !(name in recorded) || !(name in args) || same(recorded[name], args[name]));
    const found = this.#recordings[command]?.find(fits);
    if (!found) throw new Error(`Nobody has recorded ${command} ${JSON.stringify(args)}`);
    return structuredClone(found);
  }

  async #invoke(command: string, args: Args): Promise<unknown> {
    if (command.startsWith('plugin:')) return 0;
    this.#asked.push({ command, args });
    const answer = this.#answers.get(command);
    if (answer) return answer(args);
    switch (command) {
      case 'follow':
        // A newer follower ends an older one.
        for (const { end } of this.#listeners.splice(0)) end({ code: 'cancelled', message: '', detail: null });
        return 1;
      case 'followed': {
        const batch = this.#batches.shift();
        return batch ?? new Promise((give, end) => this.#listeners.push({ give, end }));
      }
      case 'logCount':
        return this.#send(args.counts, 'logCount');
      case 'usage':
        return this.#send(args.usages, 'usage');
      case 'stopCount':
      case 'stopUsage':
      case 'unfollow':
        return null;
    }
    const { ok, error } = this.#find(command, args);
    if (error) throw error;
    return ok;
  }

  /** What came on a channel. */
  #send(channel: { onmessage: (message: unknown) => void }, command: string): null {
    for (const { ok } of this.#recordings[command] ?? []) channel.onmessage(structuredClone(ok));
    return null;
  }
}
