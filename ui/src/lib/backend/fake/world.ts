// What the made-up gate knows: servers, sessions, everything on record, the rules in force. The files beside it answer commands
// from it; only this one changes it.
import type * as T from '../backend';
import { catalog, type FakeServer, type FakeTool } from './catalog';
import { fillPast } from './past';
import { Random } from './random';
import { decide, type FakeRule } from './verdict';

export interface Options {
  seed: number;
  /** Calls in the past. */
  calls: number;
  /** New calls a second; 0 stands still. */
  rate: number;
  /** Commands that fail, by name: for error states. */
  fail: string[];
  /** Entries that are looked at for one page: then it is shown as it is, short or empty, with where to go on. */
  looks: number;
  /** The clients of the machine: as usual, or none at all. */
  clients: 'usual' | 'none';
  /** Whether secrets can be stored. */
  keychain: 'usual' | 'none';
  now: () => number;
}

export const defaults: Options = {
  seed: 7,
  calls: 4_000,
  rate: 1.2,
  fail: [],
  looks: 5_000,
  clients: 'usual',
  keychain: 'usual',
  now: () => Date.now(),
};

/** One entry of the log and what is kept of it. */
export interface Entry {
  rev: number;
  line: T.LogEntry;
  args: string | null;
  result: string | null;
}

const refusedDecisions: T.Decision[] = [
  'denied',
  'capped',
  'hidden',
  'paused',
  'malformed',
  'broken',
  'unrecorded',
  'unsupported',
  'stopped',
];

export class World {
  readonly options: Options;
  readonly random: Random;
  readonly servers: FakeServer[];
  sessions: T.SessionView[] = [];
  entries: Entry[] = [];
  rules: FakeRule[] = [];
  pausedAll = false;
  pausedServers = new Set<string>();
  allowances: T.AllowanceView[] = [];
  /** Identical calls that pass once, as "server tool arguments". */
  passNext = new Set<string>();
  /** Why the log cannot be followed now. */
  problem: string | null = null;
  /** The default policy cannot be used. */
  defaultBroken = false;
  /** More that needs a person. */
  needs: T.Need[] = [];
  lookedMs: number;
  settings: T.UserSettings = {
    theme: 'system',
    historyDays: 30,
    historyMegabytes: 500,
    recording: 'full',
    maskNames: [],
    notifications: { blocked: true, alarms: true },
    repairGates: false,
  };
  startsAtLogin = false;
  /** Start at login was never asked about. */
  askLogin: boolean;
  demoRunning = false;
  /** Servers of one's own, with what they start. */
  own = new Map<string, string[]>();
  /** What is done when a question is answered with yes, by its token. */
  questions = new Map<string, { untilMs: number; act: () => T.Done }>();
  /** Takes a change of a policy back; none if the change is not one of a policy text. */
  revert: (server: string, change: number) => T.Answer | null = () => null;
  lastGood: (server: string) => T.Answer = () => {
    throw new Error('there are no rules yet');
  };
  /** Lets something be undone for a while; set by who undoes. */
  undoable: (words: string, server: string | null, back: () => void) => T.Undo | null = () => null;

  /** What a server's calls of today come to. */
  numbers(server: string): { callsToday: number; refusedToday: number; lastCallMs: number | null } {
    const midnight = new Date(this.now()).setHours(0, 0, 0, 0);
    const lines = [...this.calls()].filter((line) => line.server === server);
    const today = lines.filter((line) => line.atMs >= midnight);
    return {
      callsToday: today.length,
      refusedToday: today.filter((line) => line.refused).length,
      lastCallMs: lines.at(-1)?.atMs ?? null,
    };
  }
  /** Grows with every change of a server's rules. */
  versions = new Map<string, number>();
  #listeners = new Set<(entry: Entry) => void>();
  #rev = 0;
  #id = 0;
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(options: Partial<Options> = {}) {
    this.options = { ...defaults, ...options };
    this.random = new Random(this.options.seed);
    this.servers = [...catalog];
    const now = this.now();
    this.lookedMs = now - 3 * 3_600_000;
    this.askLogin = this.options.calls === 0;
    if (this.options.calls > 0) fillPast(this, now);
  }

  /** The newest `rev` of all. */
  get rev(): number {
    return this.#rev;
  }

  /** Another history begins, with numbers of its own. */
  forget(): void {
    this.entries = [];
    this.#rev = 0;
  }

  now(): number {
    return this.options.now();
  }

  version(server: string): string {
    return `v${this.versions.get(server) ?? 1}`;
  }

  server(name: string): FakeServer | undefined {
    return this.servers.find((server) => server.name === name);
  }

  /** Calls of the past and of now, oldest first. */
  *calls(): Generator<T.CallLine> {
    for (const entry of this.entries) if (entry.line.kind === 'call') yield entry.line;
  }

  listen(on: (entry: Entry) => void): () => void {
    this.#listeners.add(on);
    return () => this.#listeners.delete(on);
  }

  /** New calls from now on. */
  run(): void {
    if (this.options.rate <= 0 || this.#timer) return;
    const tick = 100;
    let due = 0;
    this.#timer = setInterval(() => {
      due += (this.options.rate * tick) / 1_000;
      // Uneven, as agents are: bursts and pauses around the same mean.
      while (due >= 1 && this.random.next() < 0.35 + this.options.rate / 20) {
        due -= 1;
        this.someCall(this.now());
      }
    }, tick);
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** One call by somebody, finished at once if it lies in the past. */
  someCall(atMs: number): void {
    const running = this.sessions.filter((session) => session.endedMs === null);
    if (running.length === 0) return;
    const session = this.random.pick(
      running.filter((one) => one.server === 'files' || this.random.next() < 0.5).concat(running[0]!),
    );
    const tool = this.random.weighted(this.server(session.server)!.tools);
    this.makeCall(session, tool, tool.args(this.random), atMs);
  }

  makeCall(
    session: T.SessionView,
    tool: FakeTool,
    args: Record<string, unknown>,
    atMs: number,
    live = atMs > this.now() - 1_000,
  ): T.CallLine {
    const text = JSON.stringify(args);
    const verdict = decide(this, session, tool.name, args, atMs);
    const refused = refusedDecisions.includes(verdict.decision);
    const rev = ++this.#rev;
    const failed = !refused && this.random.next() < 0.03;
    const durationUs = refused ? 80 + this.random.int(400) : Math.round(this.random.around(tool.ms) * 1_000);
    const result = refused
      ? null
      : failed
        ? JSON.stringify({ content: [{ type: 'text', text: 'ENOENT: no such file' }], isError: true })
        : tool.result(this.random);
    const line: T.CallLine = {
      rev,
      id: this.#newId(atMs),
      atMs,
      server: session.server,
      client: session.client,
      session: session.session,
      tool: tool.name,
      method: 'tools/call',
      gist: gist(args),
      ...verdict,
      refused,
      outcome: refused ? 'not_sent' : failed ? 'tool_error' : 'ok',
      durationUs,
      bytes: text.length + (result?.length ?? 0),
      demo: false,
      times: 1,
      firstRev: rev,
      firstMs: atMs,
      tools: [],
      foldKey: refused ? `${session.session} ${verdict.decision} ${verdict.rule}` : null,
      repeatable: refused,
    };
    session.calls += 1;
    if (refused) session.refused += 1;
    const entry: Entry = { rev, line: { kind: 'call', ...line }, args: text, result };
    if (live && !refused && durationUs > 30_000) {
      const running = entry.line as T.CallLine & { kind: 'call' };
      entry.line = { ...running, outcome: null, durationUs: null, bytes: text.length };
      const { entries } = this;
      setTimeout(() => {
        const over = entry.line.kind === 'call' && entry.line.outcome !== null;
        if (entries !== this.entries || over) return;
        entry.line = running;
        this.#tell(entry);
      }, durationUs / 1_000);
    }
    this.entries.push(entry);
    this.#tell(entry);
    return line;
  }

  /** A person ends a call that runs. */
  cancel(entry: Entry): void {
    if (entry.line.kind !== 'call') return;
    const durationUs = Math.max(0, this.now() - entry.line.atMs) * 1_000;
    entry.line = { ...entry.line, outcome: 'cancelled_by_user', durationUs };
    this.#tell(entry);
  }

  /** A row for a change of rules; the rules themselves are set by the caller. */
  changed(server: string, summary: string, loosened: boolean, origin = 'window', atMs = this.now()): string {
    const previous = this.version(server);
    this.versions.set(server, (this.versions.get(server) ?? 1) + 1);
    const rev = ++this.#rev;
    const change: T.ChangeLine = {
      rev,
      id: rev,
      atMs,
      server,
      origin,
      summary,
      loosened,
      version: this.version(server),
      previous,
      revertable: true,
    };
    const entry: Entry = { rev, line: { kind: 'change', ...change }, args: null, result: null };
    this.entries.push(entry);
    this.#tell(entry);
    return change.version;
  }

  happened(event: string, server: string | null, text: string, atMs = this.now()): void {
    const rev = ++this.#rev;
    const entry: Entry = {
      rev,
      line: { kind: 'event', rev, id: rev, atMs, event, server, session: null, text },
      args: null,
      result: null,
    };
    this.entries.push(entry);
    this.#tell(entry);
  }

  #tell(entry: Entry): void {
    for (const on of this.#listeners) on(entry);
  }

  #newId(atMs: number): string {
    this.#id += 1;
    return `${Math.floor(atMs).toString(16).padStart(12, '0')}${this.#id.toString(16).padStart(8, '0')}`;
  }

  /** A client starts a server. */
  begin(server: string, client: string, startedMs: number, endedMs: number | null, pid: number): T.SessionView {
    const session: T.SessionView = {
      session: this.#newId(startedMs),
      server,
      client,
      pid,
      startedMs,
      endedMs,
      end: endedMs === null ? null : 'client_closed',
      policy: this.version(server),
      calls: 0,
      refused: 0,
      demo: false,
      stand: 'running',
      standWords: null,
      restarts: 0,
      restartedMs: null,
    };
    this.sessions.push(session);
    return session;
  }
}

/** The arguments in one short line. */
export function gist(args: Record<string, unknown>): string {
  const parts = Object.entries(args).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const line = parts.join(' ');
  return line.length > 160 ? `${line.slice(0, 159)}…` : line;
}
