// One server's rules while somebody edits them: the file as it was read, the text as it would be, the form for one tool.
// It outlives the section on the screen, so that looking elsewhere loses nothing.
import { confirmed, loosen, tell } from '../../lib/acts';
import type { App } from '../../lib/app.svelte';
import {
  BackendError,
  type ClientRule,
  type Diagnostic,
  type Done,
  type Effect,
  type Proposal,
  type ReadyRule,
  type RuleDraft,
  type RulesView,
  type Target,
  type ToolRule,
  type ToolState,
} from '../../lib/backend';
import { choose, copyOf, emptyDraft, generalRule, missing, same, strictest, type About, type Missing } from './draft';
import { merged, pathsOf } from './paths';

export type Tab = 'tools' | 'text' | 'try' | 'versions';
export const effectDays = 7;

const draftAfter = 120;
const effectAfter = 350;

/** The form for one tool, for all of them, or for those that no rule names. */
export class Form {
  readonly rule: ToolRule;
  readonly about: About;
  /** None: for everyone. */
  client: string | null = $state(null);
  draft: RuleDraft;
  /** What the form held when it was opened for this client. */
  start: RuleDraft;
  paths: string[] = $state.raw([]);

  constructor(rule: ToolRule, draft: RuleDraft, about: About = 'tool') {
    this.rule = rule;
    this.about = about;
    this.draft = $state(draft);
    this.start = $state.raw(copyOf(rule.draft ?? emptyDraft()));
  }

  // Getters, not $derived: those belong to the effect in which they are made, and the form outlives it.
  get missing(): Missing[] {
    return missing(this.draft);
  }

  get touched(): boolean {
    return !same(this.draft, this.start);
  }

  /** What the policy adds for this client. */
  get clientRule(): ClientRule | null {
    return this.rule.clients.find((one) => one.client === this.client) ?? null;
  }

  /** The rule of this client says more than the form can: saving the form would drop the rest. */
  get beyond(): boolean {
    return this.clientRule !== null && this.clientRule.draft === null;
  }

  /** For another client the form starts from what the policy says for that one; from nothing if it says nothing. */
  forClient(client: string | null): void {
    this.client = client;
    this.start = copyOf((client === null ? this.rule.draft : this.clientRule?.draft) ?? emptyDraft());
    this.draft = copyOf(this.start);
  }

  target(server: string): Target {
    return { server, tool: this.about === 'tool' ? this.rule.name : null, client: this.client };
  }
}

export interface Conflict {
  theirs: string;
  diff: string;
}

export class Sheet {
  readonly server: string;
  readonly #app: App;

  view: RulesView | null = $state.raw(null);
  error: BackendError | null = $state.raw(null);
  /** The whole policy as it would be, without the open form. */
  text = $state('');
  tab: Tab = $state('tools');
  form: Form | null = $state.raw(null);

  proposal: Proposal | null = $state.raw(null);
  proposalError: BackendError | null = $state.raw(null);
  effect: Effect | null = $state.raw(null);
  effectError: BackendError | null = $state.raw(null);
  counting = $state(false);
  saving = $state(false);
  conflict: Conflict | null = $state.raw(null);
  /** The file was changed elsewhere while edits are open here. */
  stale = $state(false);
  /** What the last attempt to save was refused for. */
  refusedFor: Diagnostic[] = $state.raw([]);

  #turn = 0;
  /** The form that was asked for while a save was under way. */
  #next: (() => void) | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(app: App, server: string) {
    this.#app = app;
    this.server = server;
  }

  // Getters for the same reason as in the form.
  get edited(): boolean {
    return this.view !== null && this.text !== this.view.text;
  }

  get dirty(): boolean {
    return this.edited || (this.form?.touched ?? false);
  }

  get broken(): boolean {
    return this.view !== null && this.view.version === null;
  }

  /** Everything that a proposal depends on, as one value to watch; none if there is nothing to propose. */
  get wanted(): string | null {
    const { form } = this;
    if (!form?.touched) return this.edited ? this.text : null;
    return form.missing.length > 0
      ? null
      : JSON.stringify([this.text, form.about, form.client, form.rule.name, form.draft]);
  }

  /** The text that would be saved now, with the form in it; what *Try a call* judges by. */
  get candidate(): string {
    return this.form?.touched ? (this.proposal?.text ?? this.text) : this.text;
  }

  /** Reads the rules again. Open edits stay; then a change made elsewhere is only noted. */
  async load(): Promise<void> {
    try {
      const view = await this.#app.backend.rules(this.server);
      this.error = null;
      // What is being saved is no change made elsewhere; it is read when it is done.
      if (this.saving) return;
      if (this.view && this.dirty) {
        this.stale = view.text !== this.view.text;
        return;
      }
      this.#take(view);
    } catch (thrown) {
      if (this.view === null) this.error = BackendError.from(thrown);
    }
  }

  #take(view: RulesView): void {
    const first = this.view === null;
    this.view = view;
    this.text = view.text;
    this.stale = false;
    if (first && view.version === null) this.tab = 'text';
  }

  /** Opens the form for a tool, or another one; with a state, as if that had been chosen in the table. */
  open(rule: ToolRule, state?: ToolState, about: About = 'tool'): void {
    if (this.saving) {
      this.#next = () => this.#openNew(rule, state, about);
      return;
    }
    if (rule.draft === null) {
      this.tab = 'text';
      return;
    }
    const form = new Form(rule, state === undefined ? copyOf(rule.draft) : choose(rule, state, null), about);
    // What is blocked for one client is not "every call passes".
    if (state === undefined) form.forClient(strictest(rule));
    this.form = form;
    void this.#suggest(form);
    if (state === 'cap' && rule.draft.limits.length === 0) void this.#advise(form);
  }

  /** The same by what the rule says now. */
  #openNew(rule: ToolRule, state: ToolState | undefined, about: About): void {
    if (about !== 'tool') return this.openGeneral(about, state);
    const now = this.view?.tools.find(({ name }) => name === rule.name);
    if (now) this.open(now, state);
  }

  /** The same for the rule of all tools, and for the default. */
  openGeneral(about: 'allTools' | 'default', state?: ToolState): void {
    const rule = this.view && generalRule(this.view, about);
    if (rule) this.open(rule, state, about);
  }

  /** The cap that fits this person's own use, if it comes before anything is typed. */
  async #advise(form: Form): Promise<void> {
    try {
      const advice = await this.#app.backend.capAdvice(form.target(this.server));
      const best = advice.choices.find((choice) => choice.advised);
      const limit = form.draft.limits[0];
      const asChosen = choose(form.rule, 'cap', null);
      if (best && limit && same(form.draft, asChosen)) {
        limit.max = best.max;
        limit.window = best.window;
      }
    } catch {
      // Advice is a kindness; the form has numbers of its own.
    }
  }

  async #suggest(form: Form): Promise<void> {
    if (form.rule.pattern || form.about === 'default') return;
    const { backend } = this.#app;
    try {
      const page = await backend.logPage(
        { server: this.server, tool: form.target(this.server).tool, only: 'calls' },
        { kind: 'newest' },
        8,
      );
      const ids = page.entries.flatMap((entry) => (entry.kind === 'call' ? [entry.id] : [])).slice(-4);
      const details = await Promise.all(ids.map((id) => backend.call(id)));
      form.paths = merged(details.map((detail) => (detail.args ? pathsOf(detail.args.text) : [])));
    } catch {
      // Without suggestions a path is typed.
    }
  }

  /** Puts a ready-made rule into the text, where it is looked at and saved like any other edit. */
  async applyReady(rule: ReadyRule, folder: string): Promise<void> {
    try {
      const proposal = await this.#app.backend.draftReady(this.server, this.text, rule.id, rule.folder ? folder : null);
      this.form = null;
      this.text = proposal.text;
      this.tab = 'text';
    } catch (thrown) {
      this.#app.fail(thrown);
    }
  }

  close(): void {
    this.form = null;
  }

  discard(): void {
    this.form = null;
    if (this.view) this.text = this.view.text;
    this.conflict = null;
    this.refusedFor = [];
    void this.load();
  }

  /** Asks what the edits would change and have changed, once typing pauses. */
  wish(): void {
    clearTimeout(this.#timer);
    this.#turn += 1;
    this.effect = null;
    this.effectError = null;
    this.proposalError = null;
    this.counting = false;
    if (this.wanted === null) {
      this.proposal = null;
      return;
    }
    const turn = this.#turn;
    this.#timer = setTimeout(() => void this.#ask(turn), draftAfter);
  }

  async #ask(turn: number): Promise<void> {
    const { backend } = this.#app;
    try {
      const form = this.form;
      const proposal = form?.touched ? await this.#drafted(form) : await backend.propose(this.server, this.text);
      if (turn !== this.#turn) return;
      this.proposal = proposal;
    } catch (thrown) {
      if (turn !== this.#turn) return;
      this.proposal = null;
      this.proposalError = BackendError.from(thrown);
      return;
    }
    this.counting = true;
    this.#timer = setTimeout(() => void this.#count(turn), effectAfter);
  }

  /** The text with what the form says in it. */
  #drafted(form: Form): Promise<Proposal> {
    const { backend } = this.#app;
    if (form.about === 'default') return backend.draftDefault(this.text, form.draft.action);
    return backend.draftRule(this.text, form.target(this.server), $state.snapshot(form.draft));
  }

  async #count(turn: number): Promise<void> {
    const text = this.proposal?.text;
    if (text === undefined) return;
    try {
      const effect = await this.#app.backend.effect(this.server, text, effectDays);
      if (turn === this.#turn) this.effect = effect;
    } catch (thrown) {
      const error = BackendError.from(thrown);
      if (turn === this.#turn && error.code !== 'cancelled') this.effectError = error;
    } finally {
      if (turn === this.#turn) this.counting = false;
    }
  }

  /** Saves a whole text that was proposed, by the road of every other edit. Open edits come first: then nothing is done. */
  async apply(text: string): Promise<boolean> {
    if (this.dirty || this.saving) return false;
    this.form = null;
    this.text = text;
    const saved = await this.save();
    // Somebody who said no has not edited anything. A conflict or an error is shown with the text that it is about.
    if (!saved && this.view && !this.conflict && this.refusedFor.length === 0) this.text = this.view.text;
    return saved;
  }

  /** The same for several tools, as one change. A cap takes the place of the one that a tool has. */
  async chooseMany(
    rules: readonly ToolRule[],
    state: 'deny' | 'hide' | 'cap',
    cap: { max: number; window: string } | null = null,
  ): Promise<boolean> {
    if (this.dirty || this.saving) {
      this.#app.toasts.say('There are unsaved edits here: save or discard them first.');
      return false;
    }
    let { text } = this;
    try {
      for (const rule of rules) {
        const draft = choose(rule, state, cap);
        const limit = draft.limits[0];
        if (state === 'cap' && cap && limit) Object.assign(limit, { limit: 'calls', ...cap });
        const target = { server: this.server, tool: rule.name, client: null };
        ({ text } = await this.#app.backend.draftRule(text, target, draft));
      }
    } catch (thrown) {
      this.#app.fail(thrown);
      return false;
    }
    if (text !== this.text) return this.apply(text);
    this.#app.toasts.say('That is what their rules say already.');
    return true;
  }

  /** True when it is on disk. A form that is asked for meanwhile opens then, on the rules as they were saved. */
  async save(): Promise<boolean> {
    const view = this.view;
    if (!view || this.saving || this.wanted === null) return false;
    this.saving = true;
    this.refusedFor = [];
    this.#takeNext();
    const saved = await this.#write(view);
    this.saving = false;
    if (saved) this.#takeNext()?.();
    return saved;
  }

  #takeNext(): (() => void) | null {
    const next = this.#next;
    this.#next = null;
    return next;
  }

  async #write(view: RulesView): Promise<boolean> {
    const { backend } = this.#app;
    try {
      // The form may be newer than the last proposal.
      const [form, typed] = [this.form, this.text];
      const text = form?.touched ? (await this.#drafted(form)).text : typed;
      const answer = await backend.savePolicy(this.server, view.text, text);
      switch (answer.kind) {
        case 'done':
          await this.#saved(answer, { ...view, text }, typed);
          return true;
        case 'ask': {
          const done = await confirmed(this.#app, answer, 'Save');
          if (done) await this.#saved(done, { ...view, text }, typed);
          return done !== null;
        }
        case 'conflict':
          this.conflict = { theirs: answer.theirs, diff: answer.diff };
          return false;
        case 'broken':
          this.refusedFor = answer.diagnostics;
          return false;
      }
    } catch (thrown) {
      const error = BackendError.from(thrown);
      if (error.code === 'conflict') await this.#meet();
      else this.#app.fail(error);
      return false;
    }
  }

  /** Confirmed too late: somebody else was faster. */
  async #meet(): Promise<void> {
    try {
      const { text } = await this.#app.backend.rules(this.server);
      this.conflict = { theirs: text, diff: '' };
    } catch (thrown) {
      this.#app.fail(thrown);
    }
  }

  /** The edits stay until the rules are read as they are now: what was before them must not show in between. */
  async #saved(done: Done, written: RulesView, typed: string): Promise<void> {
    tell(this.#app, done, false);
    void this.#app.refresh();
    // If they cannot be read, the text is known all the same; the next look has the rest.
    const view = await this.#app.backend.rules(this.server).catch(() => written);
    const newer = this.text === typed ? null : this.text;
    this.form = null;
    this.conflict = null;
    this.#take(view);
    // Somebody has typed on.
    if (newer !== null) this.text = newer;
  }

  /** The file as it is now, without the edits made here. */
  async takeTheirs(): Promise<void> {
    this.conflict = null;
    this.form = null;
    await this.#rebase(false);
  }

  /** The edits stay, and are from now on compared with the file as it is now: saving replaces it knowingly. */
  async keepMine(): Promise<void> {
    this.conflict = null;
    await this.#rebase(true);
  }

  async #rebase(keep: boolean): Promise<void> {
    try {
      const view = await this.#app.backend.rules(this.server);
      const mine = this.text;
      const touchedText = this.edited;
      this.#take(view);
      // A form is put on their text; only a text of one's own stands against it.
      if (keep && touchedText) this.text = mine;
    } catch (thrown) {
      this.#app.fail(thrown);
    }
  }

  async revert(change: number): Promise<boolean> {
    const done = await loosen(this.#app, { kind: 'revert', server: this.server, change });
    if (done) await this.load();
    return done !== null;
  }
}

const kept = new WeakMap<App, Map<string, Sheet>>();

/** The sheet of a server; the same one as long as the window lives. */
export function sheetOf(app: App, server: string): Sheet {
  const sheets = kept.get(app) ?? new Map<string, Sheet>();
  kept.set(app, sheets);
  const sheet = sheets.get(server) ?? new Sheet(app, server);
  sheets.set(server, sheet);
  return sheet;
}

/** Servers with edits that are not saved. */
export function unsaved(app: App): Sheet[] {
  return [...(kept.get(app)?.values() ?? [])].filter((sheet) => sheet.dirty);
}
