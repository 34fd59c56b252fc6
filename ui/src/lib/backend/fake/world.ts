// What the made-up gate knows: servers, sessions, everything on record, the rules in force. The files beside it answer commands
// from it; only this one changes it.
import type * as T from '../backend';
import { catalog, type FakeServer, type FakeTool } from './catalog';
import { Random } from './random';

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
  now: () => number;
}

export const defaults: Options = { seed: 7, calls: 4_000, rate: 1.2, fail: [], looks: 5_000, now: () => Date.now() };

/** One entry of the log and what is kept of it. */
export interface Entry {
  rev: number;
  line: T.LogEntry;
  args: string | null;
  result: string | null;
}

export interface FakeRule {
  kind: 'block' | 'cap' | 'hide' | 'refuse';
  target: T.Target;
  max: number;
  window: string;
  reason: string | null;
  argument: T.ArgumentRule | null;
}

interface Verdict {
  decision: T.Decision;
  rule: string | null;
  reason: string | null;
}

const day = 86_400_000;
const windows: Record<string, number> = { minute: 60_000, hour: 3_600_000, day };
const refusedDecisions: T.Decision[] = [
  'denied',
  'capped',
  'hidden',
  'paused',
  'malformed',
  'broken',
  'unrecorded',
  'unsupported',
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
  lookedMs: number;
  settings: T.UserSettings = {
    theme: 'system',
    historyDays: 30,
    historyMegabytes: 500,
    recording: 'full',
    maskNames: [],
    notifications: { blocked: true, alarms: true },
  };
  startsAtLogin = false;
  /** Start at login was never asked about. */
  askLogin: boolean;
  demoRunning = false;
  /** What is done when a question is answered with yes, by its token. */
  questions = new Map<string, { untilMs: number; act: () => T.Done }>();
  /** Takes a change of a policy back; none if the change is not one of a policy text. */
  revert: (server: string, change: number) => T.Answer | null = () => null;
  /** Grows with every change of a server's rules. */
  versions = new Map<string, number>();
  #listeners = new Set<(entry: Entry) => void>();
  #rev = 0;
  #id = 0;
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(options: Partial<Options> = {}) {
    this.options = { ...defaults, ...options };
    this.random = new Random(this.options.seed);
    this.servers = catalog;
    const now = this.now();
    this.lookedMs = now - 3 * 3_600_000;
    this.askLogin = this.options.calls === 0;
    if (this.options.calls > 0) this.#past(now);
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
    const verdict = this.decide(session.server, session.client, tool.name, args, text, atMs);
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
        if (entries !== this.entries) return;
        entry.line = running;
        this.#tell(entry);
      }, durationUs / 1_000);
    }
    this.entries.push(entry);
    this.#tell(entry);
    return line;
  }

  decide(
    server: string,
    client: string | null,
    tool: string,
    args: Record<string, unknown>,
    text: string,
    atMs: number,
  ): Verdict {
    if (this.pausedAll || this.pausedServers.has(server))
      return { decision: 'paused', rule: null, reason: 'paused by the user' };
    const pass: Verdict = { decision: 'allowed', rule: null, reason: null };
    if (this.passNext.delete(`${server} ${tool} ${text}`)) return pass;
    const allowance = this.allowances.find(
      (one) => one.server === server && one.endsMs > atMs && (one.tool === null || one.tool === tool),
    );
    const rule = this.rules.find((one) => this.#applies(one, server, client, tool, args, atMs));
    if (!rule) return pass;
    if (allowance)
      return allowance.tool === null ? { decision: 'would_deny', rule: pointer(rule), reason: rule.reason } : pass;
    const decision = rule.kind === 'cap' ? 'capped' : rule.kind === 'hide' ? 'hidden' : 'denied';
    return { decision, rule: pointer(rule), reason: rule.reason };
  }

  #applies(
    rule: FakeRule,
    server: string,
    client: string | null,
    tool: string,
    args: Record<string, unknown>,
    atMs: number,
  ): boolean {
    const { target } = rule;
    if (
      target.server !== server ||
      (target.tool !== null && target.tool !== tool) ||
      (target.client !== null && target.client !== client)
    )
      return false;
    if (rule.kind === 'cap') return this.used(rule, atMs) >= rule.max;
    if (!rule.argument) return true;
    const value = args[rule.argument.path.replace(/^args\./, '')];
    if (rule.argument.kind === 'equals') return JSON.stringify(value) === rule.argument.value;
    if (typeof value !== 'string') return false;
    return rule.argument.kind === 'startsWith'
      ? value.startsWith(rule.argument.prefix)
      : !value.startsWith(rule.argument.folder);
  }

  /** Calls that count against this cap in its window. */
  used(rule: FakeRule, atMs: number): number {
    const since = atMs - (windows[rule.window] ?? Number.parseInt(rule.window, 10) * 1_000);
    let used = 0;
    for (let at = this.entries.length - 1; at >= 0; at -= 1) {
      const { line } = this.entries[at]!;
      if (line.atMs < since) break;
      if (line.kind !== 'call' || line.refused || line.server !== rule.target.server) continue;
      if (rule.target.tool !== null && line.tool !== rule.target.tool) continue;
      if (rule.target.client !== null && line.client !== rule.target.client) continue;
      used += 1;
    }
    return used;
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

  #past(now: number): void {
    this.rules = [
      {
        kind: 'block',
        target: { server: 'files', tool: 'delete_file', client: null },
        max: 0,
        window: '',
        reason: 'not from an agent',
        argument: null,
      },
      {
        kind: 'refuse',
        target: { server: 'fetch', tool: 'fetch', client: null },
        max: 0,
        window: '',
        reason: null,
        argument: { kind: 'startsWith', path: 'args.url', prefix: 'file:' },
      },
      {
        kind: 'block',
        target: { server: 'github', tool: 'merge_pull_request', client: 'claude-ai' },
        max: 0,
        window: '',
        reason: 'a person merges',
        argument: null,
      },
      {
        kind: 'cap',
        target: { server: 'github', tool: 'search_code', client: null },
        max: 6,
        window: 'minute',
        reason: null,
        argument: null,
      },
    ];
    const all = this.servers.flatMap((server) => server.clients.map((client) => ({ server: server.name, client })));
    all.forEach(({ server, client }, index) =>
      this.#session(server, client, now - (index + 1) * 47 * 60_000, null, 41_000 + index * 37),
    );
    const ended = this.#session('files', 'claude-ai', now - 2.2 * day, now - 2 * day, 9_120);
    const open = this.sessions.filter((session) => session !== ended);
    for (const happen of this.#plan(now, open, ended)) happen.make(Math.floor(happen.atMs));
    for (const server of this.servers) this.versions.set(server.name, this.versions.get(server.name) ?? 1);
  }

  /** What happened, in order of time: runs of work with idle gaps between them, the most of it lately. */
  #plan(now: number, open: T.SessionView[], ended: T.SessionView): { atMs: number; make: (atMs: number) => void }[] {
    const { random } = this;
    const total = this.options.calls;
    const plan: { atMs: number; make: (atMs: number) => void }[] = [];
    const one = (session: T.SessionView, tool: FakeTool, atMs: number, args = tool.args(random)) =>
      plan.push({ atMs, make: (at) => void this.makeCall(session, tool, args, at, false) });
    const days = Math.min(29, Math.max(3, total / 1_500));
    while (plan.length < total) {
      // Some lately, the rest spread before it, more by day than by night.
      const back = random.next() < 0.16 ? random.next() * 0.2 * day : random.next() ** 1.3 * days * day;
      const hour = new Date(now - back).getHours();
      if (back > 0.3 * day && (hour < 8 || hour > 19) && random.next() < 0.85) continue;
      const session = back > 2 * day && random.next() < 0.5 ? ended : random.pick(open);
      let at = now - back;
      for (let n = 3 + random.int(34); n > 0 && plan.length < total; n -= 1) {
        at += random.around(9_000);
        if (at > now - 1_500) break;
        one(session, random.weighted(this.server(session.server)!.tools), at);
      }
    }
    // An agent that does not take no for an answer, and one in a hurry.
    const files = open.find((session) => session.server === 'files')!;
    const github = open.find((session) => session.server === 'github')!;
    const remove = this.server('files')!.tools.find((tool) => tool.name === 'delete_file')!;
    const search = this.server('github')!.tools.find((tool) => tool.name === 'search_code')!;
    for (let n = 0; n < Math.min(412, total / 8); n += 1)
      one(files, remove, now - 26 * 60_000 + n * 90, { path: '/home/ada/.ssh/config' });
    for (let n = 0; n < 9; n += 1)
      one(files, remove, now - 100_000 + n * 400, { path: '/home/ada/project/notes/plan.md' });
    for (let n = 0; n < 14; n += 1) one(github, search, now - 52_000 + n * 800);
    const change = (minutes: number, server: string, words: string, loosened: boolean, origin: string) =>
      plan.push({ atMs: now - minutes * 60_000, make: (at) => void this.changed(server, words, loosened, origin, at) });
    change(2_900, 'fetch', 'Refused fetch when url starts with file:, for everyone', false, 'window');
    change(1_500, 'github', 'Capped search_code at 6 per minute, for everyone', false, 'cli');
    change(75, 'files', 'Blocked delete_file, for everyone: “not from an agent”', false, 'window');
    change(1.4, 'postgres', 'Allowed query without a cap, for cursor-vscode', true, 'file');
    plan.push({
      atMs: now - 18 * 60_000,
      make: (at) =>
        this.happened('processes_ended', 'fetch', '2 processes left behind by a session of fetch were ended', at),
    });
    plan.push({
      atMs: now - 45_000,
      make: (at) =>
        this.happened('policy_reloaded', 'postgres', 'The rules were read again after an edit of the file', at),
    });
    return plan.sort((a, b) => a.atMs - b.atMs);
  }

  #session(server: string, client: string, startedMs: number, endedMs: number | null, pid: number): T.SessionView {
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

export function pointer(rule: FakeRule): string {
  const client = rule.target.client === null ? '' : `/clients/${rule.target.client}`;
  return `${client}/tools/${rule.target.tool ?? '*'}`;
}
