// The only surface on which the window reaches its host. Everything above it works the same on the real gate and on the
// in-memory one; nothing above it may know which of the two it has.
import type * as T from './bindings';

export type * from './bindings';

/** What happened, to what, and what to do now; switch on `code`, never on words. */
export class BackendError extends Error {
  readonly code: T.ErrorCode;
  readonly detail: string | null;

  constructor(error: T.UiError) {
    super(error.message);
    this.name = 'BackendError';
    this.code = error.code;
    this.detail = error.detail;
  }

  /** Whatever was thrown, as the one shape that is shown. */
  static from(thrown: unknown): BackendError {
    if (thrown instanceof BackendError) return thrown;
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return new BackendError({ code: 'failed', message, detail: null });
  }
}

/** Ends a subscription; nothing arrives after it returned. */
export type Stop = () => void;
type Failed = (error: BackendError) => void;

export interface Backend {
  /** "real" or "fake": for a small mark in the window, never for behaviour. */
  readonly kind: 'real' | 'fake';

  logPage(filter: T.LogFilter, from: T.PageFrom, count: number): Promise<T.LogPage>;
  /** Counts and bars so far, until one is `done`. A newer count ends an older one. */
  count(filter: T.LogFilter, on: (count: T.LogCount) => void, failed: Failed): Stop;
  /** What comes after this `rev`. A newer follower ends an older one. */
  follow(filter: T.LogFilter, rev: number, on: (batch: T.LogBatch) => void, failed: Failed): Stop;
  call(id: string): Promise<T.CallDetail>;
  /** Cancels a call that runs: its server and the agent are told. Done when it is over. */
  cancelCall(id: string): Promise<T.Done>;
  /** How tools stand for clients now, in the order of the questions. */
  access(queries: T.AccessQuery[]): Promise<T.ToolAccess[]>;
  choices(): Promise<T.Choices>;
  runs(beforeMs: number | null, count: number): Promise<T.Run[]>;
  /** Those in which a call matches, from calls before this `rev` on. */
  runsMatching(filter: T.LogFilter, before: number | null, count: number): Promise<T.RunPage>;
  sinceLastLook(): Promise<T.SinceLastLook>;
  looked(): Promise<void>;
  exportLog(filter: T.LogFilter, format: T.ExportFormat): Promise<T.Exported>;
  /** Shows an exported file in its folder. */
  reveal(path: string): Promise<void>;

  restrict(restriction: T.Restriction): Promise<T.Done>;
  undo(token: string): Promise<T.Done>;
  giveReason(token: string, reason: string): Promise<T.Done>;
  loosen(loosening: T.Loosening): Promise<T.Answer>;
  confirm(token: string): Promise<T.Done>;
  /** The answer to a question was no: its token is good for nothing from then on. */
  dismiss(token: string): Promise<void>;
  enforcement(server: string, version: string): Promise<T.Enforcement>;
  capAdvice(target: T.Target): Promise<T.CapAdvice>;

  rulesSummary(): Promise<T.RulesSummary[]>;
  rules(server: string): Promise<T.RulesView>;
  checkPolicy(server: string | null, text: string): Promise<T.Diagnostic[]>;
  complete(server: string, text: string, offset: number): Promise<T.Completion[]>;
  draftRule(text: string, target: T.Target, draft: T.RuleDraft): Promise<T.Proposal>;
  draftDefault(text: string, action: T.Action): Promise<T.Proposal>;
  /** `folder`: for those that take one. */
  draftReady(server: string, text: string, id: string, folder: string | null): Promise<T.Proposal>;
  propose(server: string, text: string): Promise<T.Proposal>;
  tryCall(server: string, text: string, client: string | null, tool: string, args: string): Promise<T.Tried>;
  effect(server: string, text: string, days: number): Promise<T.Effect>;
  /** Rules drawn from what was used, on top of those in force; nothing is written. */
  suggestRules(server: string, days: number): Promise<T.RuleSuggestion>;
  savePolicy(server: string, baseText: string, text: string): Promise<T.SaveAnswer>;
  versions(server: string): Promise<T.PolicyVersionView[]>;
  versionDiff(server: string, change: number): Promise<string>;

  servers(): Promise<T.ServerView[]>;
  /** The last quarter of an hour first, then every two seconds while somebody listens. */
  usage(on: (usages: T.Usage[]) => void, failed: Failed): Stop;
  /** The end of it; with a search the lines that hold it, of all that is kept. */
  stderrTail(session: string, search: string): Promise<string>;
  /** Every process of the server's running sessions, as of the last usage. */
  trees(server: string): Promise<T.TreeView[]>;
  /** The newest first. */
  happened(server: string): Promise<T.HappenedView[]>;
  /** Looks at every process of this person: not every second. */
  strays(): Promise<T.Strays>;
  /** Ends what dead sessions left. */
  sweep(): Promise<T.SweepView>;
  /** Ends browsers that nobody owns: only those, and only if they still are such. */
  endSuspects(ids: string[]): Promise<T.SweepView>;
  /** Ends the server of one session with all that it started; the session goes on as when a server ends by itself. */
  endTree(session: string): Promise<T.SweepView>;
  /** What ends with a server's (null: every server's) processes, in one session or (null) in all: calls, recordings. */
  atStake(server: string | null, session: string | null): Promise<string[]>;
  /** The newest first. */
  codegen(server: string): Promise<T.CodegenView[]>;
  codegenSession(id: string): Promise<T.CodegenDetail>;
  /** A new file among the person's own, for a test. */
  codegenFile(id: string): Promise<string>;
  /** As a Playwright test, in this file; one that is there is not replaced. */
  exportCodegen(id: string, path: string): Promise<T.Exported>;
  /** In one session, or (null) in all that run. */
  stopServer(server: string, session: string | null): Promise<T.Done>;
  startServer(server: string, session: string | null): Promise<T.Done>;
  restartServer(server: string, session: string | null): Promise<T.Done>;
  /** Pauses all, and ends every server. */
  stopEverything(): Promise<T.Done>;
  overview(): Promise<T.Overview>;

  /** Only those that have a file here; Claude Desktop first. */
  clients(): Promise<T.ClientView[]>;
  /** What would be written. No entries: all that it can apply to. */
  previewClients(act: T.ClientAct, entries: T.EntryKey[]): Promise<T.ClientPreview>;
  /** `now`: also while a client runs that would write over it; otherwise such changes wait until it has quit. */
  changeClients(act: T.ClientAct, entries: T.EntryKey[], now: boolean): Promise<T.ClientChange>;
  /** Not to be asked about again. */
  leaveOpen(entries: T.EntryKey[]): Promise<void>;
  /** What somebody else did to these is not told again. */
  takeNote(entries: T.EntryKey[]): Promise<void>;
  /** What waits for this client is not written after all. */
  dropQueued(client: string, entries: T.EntryKey[]): Promise<void>;
  clientBackups(): Promise<T.BackupView[]>;
  /** A unified diff from what is there now to the copy, and what would not work then. */
  previewBackup(id: string): Promise<T.BackupPreview>;
  /** `now`: also while a client runs that would write over it; otherwise it waits until that has quit. */
  restoreBackup(id: string, now: boolean): Promise<T.Restored>;
  /** Takes a byte order mark away. `now`: also while a client runs that would write over it. */
  repairFile(client: string, path: string, now: boolean): Promise<void>;
  /** Quits it, lets what waits be written, starts it again; done when it has started. */
  reopenClient(id: string): Promise<void>;
  /** Starts it through the gate, without its client, and asks for its tools. */
  testServer(entry: T.EntryKey): Promise<T.ServerTest>;
  /** The keychain is not asked for it. */
  previewSecrets(act: T.SecretsAct, entry: T.EntryKey, only: string[] | null): Promise<T.SecretsPreview>;
  /** May wait for a person who is asked to unlock the keychain; what fails changes nothing. */
  changeSecrets(act: T.SecretsAct, entry: T.EntryKey, only: string[] | null, now: boolean): Promise<T.SecretsChange>;
  /** Takes values that are in the keychain by now out of every copy of clients' files. */
  purgeCopies(): Promise<T.PurgedCopies>;
  /** The clients that a server of one's own can be placed in. */
  serverPlaces(): Promise<T.ServerPlace[]>;
  /** What adding it would write, and what is wrong with what was typed. The values of secrets need not be in it. */
  previewServer(draft: T.ServerDraft): Promise<T.DraftPreview>;
  addServer(draft: T.ServerDraft): Promise<T.ClientChange>;
  /** What removing a server that was added here would write, and what goes with it. */
  previewRemoval(server: string): Promise<T.RemovalPreview>;
  /** `now`: also in clients that run and may write it back. */
  removeServer(server: string, now: boolean): Promise<T.Removal>;
  /** Adds the one again that was removed last, where it was. */
  restoreServer(server: string): Promise<T.ClientChange>;

  settings(): Promise<T.SettingsView>;
  saveSettings(settings: T.UserSettings): Promise<T.SettingsView>;
  /** Asks first, with what goes, one line a server; `confirm` does it. */
  deleteHistory(): Promise<T.Question>;
  startAtLogin(yes: boolean): Promise<T.SettingsView>;
  startDemo(): Promise<void>;

  /** The tray or a notification wants the window to show this address ("#/activity?call=…"). */
  onNavigate(on: (hash: string) => void): Stop;
}
