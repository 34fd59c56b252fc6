// The clients of this machine as the window shows them, and what a person does with them. One for the whole window, so that
// what is under way in one section is under way in the other.
import { SvelteMap, SvelteSet } from 'svelte/reactivity';
import type { App } from '../app.svelte';
import { poll } from '../poll';
import {
  BackendError,
  type ClientAct,
  type ClientChange,
  type ClientFile,
  type ClientView,
  type EntryKey,
  type QueuedChange,
  type Removal,
  type SecretsAct,
  type ServerDraft,
  type ServerTest,
  type ServerView,
} from '../backend';
import { undoBy, type Toast } from '../toasts.svelte';
import { allEntries, keyText, shownOf, wouldWait } from './entries';
import { count } from '../format';
import { did, doneWords, listed, nextSteps, quoted, refusedWords, waitingWords } from './words';

/** What is to be written, before the person who is asked. */
export interface Review {
  act: ClientAct;
  /** None: all that it can apply to. */
  entries: EntryKey[];
  /** Done with a yes, before the act itself. */
  first?: () => Promise<void>;
  /** What came of it is seen where it was asked for. */
  quiet?: boolean;
}

/** What a new server's form begins with. */
export interface Prefilled {
  name?: string;
  command?: string;
  /** Variables that it wants, without values. */
  variables?: string[];
  /** What has to be added to the command, in words. */
  asks?: string[];
  /** The rules that it is to begin with, by their id. */
  start?: string;
}

/** The secrets that a person is asked about. */
export interface AboutSecrets {
  act: SecretsAct;
  entry: EntryKey;
}

/** `about`: the entry as it was when it was asked, by `shownOf`. */
export type Tested = { about: string } & ({ state: 'running' } | { state: 'done'; test: ServerTest });

const every = 2_000;

export class Clients {
  views: ClientView[] | null = $state.raw(null);
  servers: ServerView[] = $state.raw([]);
  error: BackendError | null = $state.raw(null);
  /** The dialog with what would be written. */
  review: Review | null = $state.raw(null);
  /** The backup that is about to be put back. */
  restoring: string | null = $state.raw(null);
  /** The dialog about an entry's secrets. */
  secrets: AboutSecrets | null = $state.raw(null);
  /** The dialog for a server of one's own, empty or with what is known of it. */
  adding: false | Prefilled = $state.raw(false);
  /** The server that is about to be removed. */
  removing: string | null = $state.raw(null);
  /** Something is being written. */
  writing = $state(false);
  /** Clients that are being quit and started again. */
  readonly reopening = new SvelteSet<string>();
  /** By `keyText`. */
  readonly tests = new SvelteMap<string, Tested>();
  readonly #app: App;
  #asked = 0;
  #shown = 0;

  constructor(app: App) {
    this.#app = app;
  }

  /** Reads now and every two seconds while the window is seen; the answer ends it. `servers`: what runs is wanted too. */
  watch(servers: boolean): () => void {
    return poll(() => this.load(servers), every);
  }

  async load(servers = false): Promise<void> {
    const mine = ++this.#asked;
    try {
      const [views, run] = await Promise.all([
        this.#app.backend.clients(),
        servers ? this.#app.backend.servers() : null,
      ]);
      // An older answer must not undo a newer one.
      if (mine < this.#shown) return;
      this.#shown = mine;
      this.views = views;
      this.#forgetTests(views);
      if (run) this.servers = run;
      this.error = null;
    } catch (thrown) {
      if (mine >= this.#shown) this.error = BackendError.from(thrown);
    }
  }

  /** What was answered says nothing about an entry that was changed since, or is gone. */
  #forgetTests(views: readonly ClientView[]): void {
    if (this.tests.size === 0) return;
    const now = new Map(allEntries(views).map((entry) => [keyText(entry.key), shownOf(entry)]));
    for (const [id, { about }] of [...this.tests]) if (about !== '' && now.get(id) !== about) this.tests.delete(id);
  }

  /** Writes, or lets it wait, and says what came of it. */
  async change(act: ClientAct, entries: EntryKey[], now: boolean, quiet = false): Promise<ClientChange | null> {
    if (this.writing) return null;
    this.writing = true;
    try {
      const change = await this.#app.backend.changeClients(act, entries, now);
      // What was answered before says nothing about the entry as it is now.
      for (const key of change.done) this.tests.delete(keyText(key));
      this.#tell(change, quiet);
      return change;
    } catch (thrown) {
      this.#app.fail(thrown);
      return null;
    } finally {
      this.writing = false;
      await this.load(true);
      void this.#app.refresh();
    }
  }

  /** Adds a server and places it; what went wrong is said where it was asked for. */
  async add(draft: ServerDraft): Promise<ClientChange> {
    this.writing = true;
    try {
      return await this.#app.backend.addServer(draft);
    } finally {
      this.writing = false;
      await this.load(true);
      void this.#app.refresh();
    }
  }

  /** Removes a server that was added here; answers what went wrong. */
  async remove(name: string, now: boolean): Promise<BackendError | null> {
    this.writing = true;
    try {
      const removal = await this.#app.backend.removeServer(name, now);
      this.#removed(name, removal);
      return null;
    } catch (thrown) {
      return BackendError.from(thrown);
    } finally {
      this.writing = false;
      await this.load(true);
      void this.#app.refresh();
    }
  }

  #removed(name: string, { from, refused, left, next, undoUntilMs }: Removal): void {
    const { toasts, backend } = this.#app;
    const back = undoBy(async () => {
      await this.#act(async () => {
        const change = await backend.restoreServer(name);
        toasts.say(`“${name}” is back.`, { next: nextSteps(this.views ?? [], clientsIn(change.done)) });
      });
    });
    const kept = left.length > 0 ? [`Still in the keychain, until you remove it there: ${quoted(left)}.`] : [];
    if (from.length > 0)
      toasts.say(`Removed “${name}” from ${listed(from)}`, {
        ...(undoUntilMs === null ? {} : back),
        next: [...kept, ...next],
      });
    if (refused.length > 0) toasts.error('Not everything was removed.', refused.map(refusedWords).join('\n'));
  }

  /** Takes what is in the keychain by now out of the copies of clients' files: asks. */
  async purge(): Promise<boolean> {
    const yes = await this.#app.ask(
      {
        words: 'Purge the secrets from the backups?',
        details: [
          'In every copy of a file, references take the place of the values that are in the keychain now.',
          'Such a copy needs the keychain from then on. What is put back into its file later is in no copy any more.',
        ],
        loosened: [],
      },
      'Purge',
    );
    if (!yes || this.writing) return false;
    this.writing = true;
    try {
      const { rewritten, problems } = await this.#app.backend.purgeCopies();
      const words =
        rewritten === 0 ? 'No copy held a value.' : `Purged ${count(rewritten, 'copy', 'copies')} of the values.`;
      if (problems.length > 0) this.#app.toasts.error(`${words} Not all of them could be.`, problems.join('\n'));
      else this.#app.toasts.say(words);
    } catch (thrown) {
      this.#app.fail(thrown);
    } finally {
      this.writing = false;
    }
    return true;
  }

  #tell(change: ClientChange, quiet: boolean): void {
    const { toasts } = this.#app;
    const views = this.views ?? [];
    if (!quiet && change.done.length > 0)
      toasts.say(doneWords(views, change), { ...this.#back(change), next: nextSteps(views, clientsIn(change.done)) });
    if (!quiet && change.waiting.length > 0) toasts.say(waitingWords(views, change));
    if (change.left.length > 0)
      toasts.say(
        `Put back into the file, and still in the keychain until you remove it there: ${quoted(change.left)}.`,
      );
    const nothing = change.done.length + change.waiting.length === 0;
    if (change.refused.length > 0)
      toasts.error(
        `${nothing ? 'Nothing' : 'Not everything'} was ${did[change.act].toLowerCase()}.`,
        change.refused.map(refusedWords).join('\n'),
      );
  }

  /** Undo by the opposite act. What is only placed has none. */
  #back({ act, done }: ClientChange): Pick<Toast, 'undo' | 'back'> | null {
    if (act === 'place') return null;
    const opposite = act === 'protect' ? 'unprotect' : 'protect';
    return undoBy(async () => {
      const change = await this.change(opposite, done, false, true);
      if (!change) return;
      const views = this.views ?? [];
      const next = nextSteps(views, clientsIn(change.done));
      if (change.done.length > 0) this.#app.toasts.say(`Undone: ${doneWords(views, change)}`, { next });
      if (change.waiting.length > 0) this.#app.toasts.say(waitingWords(views, change));
    });
  }

  /** What waits, at once: asks, since the client may write over it. */
  async writeNow(view: ClientView): Promise<void> {
    const names = quoted([
      ...view.queued.map((change) => change.entry.name),
      ...view.restores.map((restore) => restore.shown),
    ]);
    const yes = await this.#app.ask(
      {
        words: `Write to the file of ${view.name} while it runs?`,
        loosened: [
          `${view.name} may write over it at any moment. Then the change to ${names} is lost.`,
          `It counts from the next start of ${view.name} on, not before.`,
        ],
      },
      'Write now',
    );
    if (!yes) return;
    for (const { backup } of view.restores)
      await this.#act(async () => void (await this.#app.backend.restoreBackup(backup, true)));
    for (const act of ['place', 'protect', 'unprotect'] as const) {
      const entries = queuedKeys(view.queued, act);
      if (entries.length > 0) await this.change(act, entries, true);
    }
  }

  /** What waits is not done after all; all of it, if no entries are named. */
  async dropQueued(view: ClientView, entries: EntryKey[] = []): Promise<void> {
    await this.#act(() => this.#app.backend.dropQueued(view.id, entries));
  }

  async reopen(view: ClientView): Promise<void> {
    if (this.reopening.has(view.id)) return;
    this.reopening.add(view.id);
    await this.#act(() => this.#app.backend.reopenClient(view.id));
    this.reopening.delete(view.id);
  }

  /** Not to be asked about again. What should have the gate and has lost it: asks. */
  async leave(entries: EntryKey[], serious: boolean): Promise<void> {
    const names = quoted(entries.map((key) => key.name));
    const loosened = [`No call of ${names} is judged or recorded, and nothing reminds you of it.`];
    if (serious && !(await this.#app.ask({ words: `Leave ${names} without the gate?`, loosened }, 'Leave it open')))
      return;
    await this.#act(() => this.#app.backend.leaveOpen(entries));
  }

  /** What somebody else did to these is known. */
  async takeNote(entries: EntryKey[]): Promise<void> {
    await this.#act(() => this.#app.backend.takeNote(entries));
  }

  /** All servers of a file are gone, and nobody is to miss them: asks. */
  async letGo(entries: EntryKey[]): Promise<void> {
    const names = quoted(entries.map((key) => key.name));
    const loosened = [`Nothing reminds you of ${names} any more. Should they come back, they come without the gate.`];
    if (!(await this.#app.ask({ words: 'Are they gone on purpose?', loosened }, 'Gone on purpose'))) return;
    await this.takeNote(entries);
  }

  /** Takes the byte order mark away that the file is left alone for. What a running client would write over: asks. */
  async repair(view: ClientView, file: ClientFile): Promise<void> {
    const loosened = [`${view.name} may write over it at any moment. Then the mark is back.`];
    const words = `Write to the file of ${view.name} while it runs?`;
    const now = wouldWait(view);
    if (now && !(await this.#app.ask({ words, loosened }, 'Write now'))) return;
    await this.#act(async () => {
      await this.#app.backend.repairFile(view.id, file.path, now);
      this.#app.toasts.say(`Repaired ${file.shown}. A backup is kept.`);
    });
  }

  async test(key: EntryKey): Promise<void> {
    const id = keyText(key);
    if (this.tests.get(id)?.state === 'running') return;
    const entry = allEntries(this.views ?? []).find((one) => keyText(one.key) === id);
    const about = entry ? shownOf(entry) : '';
    const mine: Tested = { about, state: 'running' };
    this.tests.set(id, mine);
    const test = await this.#answer(key);
    // Changed while it was asked: then the answer is about what is there no more.
    if (this.tests.get(id) === mine) this.tests.set(id, { about, state: 'done', test });
  }

  async #answer(key: EntryKey): Promise<ServerTest> {
    try {
      return await this.#app.backend.testServer(key);
    } catch (thrown) {
      return { says: null, tools: null, problem: BackendError.from(thrown).message };
    }
  }

  async #act(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (thrown) {
      this.#app.fail(thrown);
    }
    await this.load(true);
    void this.#app.refresh();
  }
}

const clientsIn = (keys: readonly EntryKey[]): string[] => keys.map((key) => key.client);

export const queuedKeys = (queued: readonly QueuedChange[], act: ClientAct): EntryKey[] =>
  queued.filter((change) => change.act === act).map((change) => change.entry);

const models = new WeakMap<App, Clients>();

export function clientsOf(app: App): Clients {
  const model = models.get(app) ?? new Clients(app);
  models.set(app, model);
  return model;
}
