// Settings as the gate has them, and the one way to change them: one save after the other, each built on what the one before
// left. Two quick changes must never undo each other: a name to mask that gets lost would put secrets on record.
import type { App } from '../../lib/app.svelte';
import { BackendError, type Question, type SettingsView, type UserSettings } from '../../lib/backend';
import { count, number } from '../../lib/format';
import { days, maskNames, megabytes, whole } from './check';

/** What is typed, until it is saved. */
export interface Texts {
  days: string;
  megabytes: string;
  names: string;
}

const textsOf = (settings: UserSettings): Texts => ({
  days: String(settings.historyDays),
  megabytes: String(settings.historyMegabytes),
  names: settings.maskNames.join('\n'),
});

export class SettingsModel {
  view: SettingsView | null = $state.raw(null);
  error: BackendError | null = $state.raw(null);
  texts: Texts = $state({ days: '', megabytes: '', names: '' });
  /** What is wrong with which field. */
  problems: Record<string, string> = $state({});
  readonly #app: App;
  #last: Promise<unknown> = Promise.resolve();

  constructor(app: App) {
    this.#app = app;
  }

  async load(): Promise<void> {
    try {
      const next = await this.#app.backend.settings();
      this.#take(next);
      this.texts = textsOf(next.settings);
      this.error = null;
    } catch (thrown) {
      this.error = BackendError.from(thrown);
    }
  }

  /** `words` tell what is done; none where it is seen anyway. Answers whether it is saved, or was so already (a change to nothing); if not, `problems` says why and what is shown has to go back to what is. */
  save(
    field: string,
    change: (now: UserSettings) => Partial<UserSettings> | null,
    words: string | null,
  ): Promise<boolean> {
    return this.#inLine(async () => {
      if (!this.view) return false;
      const { settings } = this.view;
      const changed = change(settings);
      try {
        if (changed) {
          this.#take(await this.#app.backend.saveSettings({ ...settings, ...changed }));
          if (words !== null) this.#app.toasts.say(words);
        }
        delete this.problems[field];
        return true;
      } catch (thrown) {
        const failed = BackendError.from(thrown);
        this.problems[field] = failed.message;
        if (failed.code !== 'badInput') this.#app.fail(failed);
        return false;
      }
    });
  }

  saveDays(): Promise<boolean> {
    const read = whole(this.texts.days, days);
    if ('problem' in read) return this.#refuse('days', read.problem);
    return this.#saveText('days', { historyDays: read.value }, `Calls are kept for ${count(read.value, 'day')}.`);
  }

  saveMegabytes(): Promise<boolean> {
    const read = whole(this.texts.megabytes, megabytes);
    if ('problem' in read) return this.#refuse('megabytes', read.problem);
    return this.#saveText(
      'megabytes',
      { historyMegabytes: read.value },
      `History takes at most ${number(read.value)} MB.`,
    );
  }

  saveNames(): Promise<boolean> {
    const read = maskNames(this.texts.names);
    if ('problem' in read) return this.#refuse('names', read.problem);
    return this.#saveText(
      'names',
      { maskNames: read.names },
      read.names.length === 0
        ? 'Only the known names are masked.'
        : `${count(read.names.length, 'more name')} masked from now on.`,
    );
  }

  login(yes: boolean): Promise<boolean> {
    return this.#inLine(async () => {
      try {
        this.#take(await this.#app.backend.startAtLogin(yes));
        delete this.problems.login;
        this.#app.toasts.say(yes ? 'Callgate starts when you log in.' : 'Callgate starts only when you start it.');
        void this.#app.refresh();
        return true;
      } catch (thrown) {
        this.problems.login = BackendError.from(thrown).message;
        return false;
      }
    });
  }

  /** What would go, and the right to let it go; null if it cannot be said. */
  async askToForget(): Promise<Question | null> {
    try {
      return await this.#app.backend.deleteHistory();
    } catch (thrown) {
      this.#app.fail(thrown);
      return null;
    }
  }

  /** After a no. */
  async keep(asked: Question): Promise<void> {
    try {
      await this.#app.backend.dismiss(asked.token);
    } catch (thrown) {
      this.#app.fail(thrown);
    }
  }

  /** After a yes. */
  forget(asked: Question): Promise<boolean> {
    return this.#inLine(async () => {
      try {
        await this.#app.backend.confirm(asked.token);
        this.#app.toasts.say('The history is deleted.');
        this.#take(await this.#app.backend.settings());
        void this.#app.refresh();
        return true;
      } catch (thrown) {
        this.#app.fail(thrown);
        return false;
      }
    });
  }

  /** Whether it is already so is known only when its turn comes. What is typed meanwhile, here or elsewhere, stays. */
  async #saveText(field: keyof Texts, change: Partial<UserSettings>, words: string): Promise<boolean> {
    const typed = this.texts[field];
    const same = (now: UserSettings) => textsOf({ ...now, ...change })[field] === textsOf(now)[field];
    const done = await this.save(field, (now) => (same(now) ? null : change), words);
    if (done && this.view && this.texts[field] === typed) this.texts[field] = textsOf(this.view.settings)[field];
    return done;
  }

  async #refuse(field: keyof Texts, problem: string): Promise<boolean> {
    this.problems[field] = problem;
    return false;
  }

  #inLine(act: () => Promise<boolean>): Promise<boolean> {
    const mine = this.#last.then(act);
    this.#last = mine;
    return mine;
  }

  #take(next: SettingsView): void {
    this.view = next;
    this.#app.theme = next.settings.theme;
  }
}
