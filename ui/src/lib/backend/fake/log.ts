// The made-up gate's log: pages, counts, the live feed, one call in full, runs.
import { BackendError, type Backend } from '../backend';
import type * as T from '../backend';
import { merged, reach, repeated } from '../../log/fold';
import { firstOf } from '../../log/key';
import { pointer, used, type FakeRule } from './verdict';
import { gist, type Entry, type World } from './world';

type Log = Pick<
  Backend,
  | 'logPage'
  | 'count'
  | 'follow'
  | 'call'
  | 'cancelCall'
  | 'access'
  | 'choices'
  | 'runs'
  | 'runsMatching'
  | 'sinceLastLook'
  | 'looked'
  | 'exportLog'
  | 'reveal'
>;

/** How a tool stands for a client by the rules in force. */
function access(world: World, { server, tool, client, rule }: T.AccessQuery): T.ToolAccess {
  if (world.pausedAll || world.pausedServers.has(server)) return { kind: 'paused' };
  const of = ({ target }: FakeRule) =>
    target.server === server &&
    (target.tool === null || target.tool === tool) &&
    (target.client === null || target.client === client);
  const blocks = world.rules.find((one) => (one.kind === 'block' || one.kind === 'hide') && of(one));
  if (blocks && tool !== null)
    return {
      kind: 'blocked',
      words: `Blocked now${blocks.reason ? `: ${blocks.reason}` : ''}`,
      target: blocks.target,
    };
  const stands = rule !== null && world.rules.some((one) => of(one) && pointer(one) === rule);
  return { kind: stands ? 'ruled' : 'open' };
}

/** Got to its server and ended with an error, or without an answer. */
function hasFailed({ outcome }: T.CallLine): boolean {
  return outcome !== null && !['ok', 'cancelled', 'cancelled_by_user', 'not_sent'].includes(outcome);
}

export function matches(filter: T.CallFilter, { line, args, result }: Entry): boolean {
  if (filter.only && `${line.kind}s` !== filter.only) return false;
  if (filter.server && line.server !== filter.server) return false;
  if (filter.sinceMs != null && line.atMs < filter.sinceMs) return false;
  if (filter.untilMs != null && line.atMs >= filter.untilMs) return false;
  if (filter.session && (line.kind === 'change' || line.session !== filter.session)) return false;
  const needsCall = filter.client || filter.tool || filter.failed || (filter.decisions?.length ?? 0) > 0;
  if (line.kind !== 'call') {
    const said = line.kind === 'change' ? line.summary : line.text;
    return !needsCall && (!filter.text || said.toLowerCase().includes(filter.text.toLowerCase()));
  }
  if (filter.client && line.client !== filter.client) return false;
  if (filter.tool && line.tool !== filter.tool) return false;
  if (filter.decisions?.length && !filter.decisions.includes(line.decision)) return false;
  if (filter.failed && !hasFailed(line)) return false;
  if (!filter.text || line.id === filter.text.trim()) return true;
  const hay = `${line.tool} ${args ?? ''} ${result ?? ''} ${line.reason ?? ''}`.toLowerCase();
  return filter.text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => hay.includes(word));
}

interface Walk {
  /** The nearest first, equal refusals of a session as one. */
  lines: T.LogEntry[];
  /** Everything up to here is in `lines`; none if there is nothing beyond. */
  edge: number | null;
}

/** From this position on, as the real gate walks: it gives up after so many entries and shows what it has. */
function walk(world: World, filter: T.CallFilter, at: number, step: 1 | -1, count: number): Walk {
  const { entries } = world;
  const lines: T.LogEntry[] = [];
  let edge: number | null = null;
  let left = world.options.looks;
  for (let index = at; index >= 0 && index < entries.length; index += step) {
    if (left === 0) return { lines, edge: entries[index - step]!.rev };
    left -= 1;
    const entry = entries[index]!;
    if (!matches(filter, entry)) continue;
    const line = filter.unfolded ? -1 : repeated(lines, entry.line);
    if (line >= 0) lines[line] = merged(lines[line]!, entry.line);
    else if (lines.length >= count) return { lines, edge };
    else lines.push(entry.line);
    edge = entry.rev;
  }
  return { lines, edge: null };
}

export function fakeLog(world: World): Log {
  const page = (filter: T.CallFilter, from: T.PageFrom, count: number): T.LogPage => {
    const walked = pages(filter, from, count);
    return { ...walked, entries: walked.entries.toSorted((a, b) => firstOf(a) - firstOf(b)) };
  };
  const pages = (filter: T.CallFilter, from: T.PageFrom, count: number): T.LogPage => {
    const { rev, entries } = world;
    const older = (at: number, most: number) => walk(world, filter, at - 1, -1, most);
    const newer = (at: number, most: number) => walk(world, filter, at, 1, most);
    switch (from.kind) {
      case 'newest': {
        const { lines, edge } = older(entries.length, count);
        return { entries: lines.reverse(), older: edge, newer: null, rev };
      }
      case 'before': {
        const { lines, edge } = older(lowerBound(entries, from.rev), count);
        return { entries: lines.reverse(), older: edge, newer: from.rev <= rev ? from.rev - 1 : null, rev };
      }
      case 'after': {
        const { lines, edge } = newer(lowerBound(entries, from.rev + 1), count);
        return { entries: lines, older: from.rev + 1, newer: edge, rev };
      }
      case 'near': {
        const at = lowerBound(entries, from.rev);
        const behind = newer(at, Math.ceil(count / 2));
        const before = older(at, Math.max(1, count - behind.lines.length));
        return { entries: [...before.lines.reverse(), ...behind.lines], older: before.edge, newer: behind.edge, rev };
      }
    }
  };

  return {
    logPage: async (filter, from, count) => structuredClone(page(filter, from, count)),

    count(filter, on) {
      const timers = [
        setTimeout(() => on(tally(world, filter, 0.4)), 30),
        setTimeout(() => on(tally(world, filter, 1)), 80),
      ];
      return () => timers.forEach(clearTimeout);
    },

    follow(filter, rev, on) {
      let through = rev;
      let { entries } = world;
      // A refusal like one of the last lines comes as one line with it, also if that was shown before.
      let tail = page(filter, { kind: 'before', rev: rev + 1 }, 2 * (reach + 1)).entries;
      const changed = new Set<Entry>();
      const stopListening = world.listen((entry) => entry.rev <= through && changed.add(entry));
      let problem: string | null = null;
      const timer = setInterval(() => {
        if (problem !== world.problem) {
          problem = world.problem;
          on({ entries: [], rev: through, skipped: 0, reset: false, problem });
        }
        if (problem !== null) return;
        if (entries !== world.entries) {
          // Another history: from its beginning.
          ({ entries } = world);
          [through, tail] = [0, []];
          changed.clear();
        }
        const lines = [...changed].filter((entry) => matches(filter, entry)).map((entry) => entry.line);
        changed.clear();
        for (let at = lowerBound(entries, through + 1); at < entries.length; at += 1) {
          const entry = entries[at]!;
          if (!matches(filter, entry)) continue;
          const known = repeated(tail, entry.line);
          if (known < 0) {
            tail = [...tail.slice(-2 * reach), entry.line];
            lines.push(entry.line);
            continue;
          }
          const [before, line] = [tail[known]!, merged(tail[known]!, entry.line)];
          tail[known] = line;
          const told = lines.lastIndexOf(before);
          if (told >= 0) lines[told] = line;
          else lines.push(line);
        }
        through = world.rev;
        if (lines.length > 0)
          on({ entries: structuredClone(lines), rev: through, skipped: 0, reset: false, problem: null });
      }, 33);
      return () => {
        stopListening();
        clearInterval(timer);
      };
    },

    async call(id) {
      const at = world.entries.findIndex((entry) => entry.line.kind === 'call' && entry.line.id === id);
      const entry = world.entries[at];
      if (!entry || entry.line.kind !== 'call') {
        throw new BackendError({
          code: 'notFound',
          message: `The call ${id} is not on record any more.`,
          detail: null,
        });
      }
      return structuredClone(detail(world, entry, entry.line));
    },

    async cancelCall(id) {
      const entry = world.entries.find(({ line }) => line.kind === 'call' && line.id === id);
      const call = entry?.line.kind === 'call' ? entry.line : null;
      if (!call || call.outcome !== null)
        throw new BackendError({
          code: 'conflict',
          message: `${call?.tool ?? 'The call'} is over already: there is nothing to cancel.`,
          detail: null,
        });
      world.cancel(entry!);
      const words = `Cancelled ${call.tool} on ${call.server}: its server and the agent were told`;
      return { words, undo: null, server: call.server, version: null, endsMs: null };
    },

    access: async (queries) => queries.map((query) => access(world, query)),

    choices: async () => ({
      servers: world.servers.map((server) => server.name),
      clients: [...new Set(world.servers.flatMap((server) => server.clients))],
      tools: world.servers.flatMap((server) => server.tools.map((tool) => ({ server: server.name, tool: tool.name }))),
    }),

    runsMatching: async (filter, before, count) => runsMatching(world, filter, before, count),

    runs: async (beforeMs, count) => runs(world, beforeMs ?? Number.POSITIVE_INFINITY).slice(0, count),

    async sinceLastLook() {
      const since: T.SinceLastLook = { sinceMs: world.lookedMs, calls: 0, refused: 0, changes: 0, ended: 0, loops: 0 };
      for (const { line } of world.entries) {
        if (line.atMs < world.lookedMs) continue;
        if (line.kind === 'change') since.changes += 1;
        else if (line.kind === 'event') since.ended += line.event === 'processes_ended' ? 2 : 0;
        else {
          since.calls += 1;
          if (line.refused) since.refused += 1;
        }
      }
      since.loops = since.refused > 20 ? 1 : 0;
      return since;
    },

    looked: async () => {
      world.lookedMs = world.now();
    },

    reveal: async () => undefined,

    exportLog: async (filter, format) => {
      const calls = world.entries.filter((entry) => entry.line.kind === 'call' && matches(filter, entry)).length;
      const ending = format === 'markdown' ? 'md' : format;
      return { path: `/home/ada/.local/share/callgate/exports/calls-2026-11-16.${ending}`, calls };
    },
  };
}

function lowerBound(entries: Entry[], rev: number): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (entries[middle]!.rev < rev) low = middle + 1;
    else high = middle;
  }
  return low;
}

function tally(world: World, filter: T.CallFilter, part: number): T.LogCount {
  const matching = world.entries.filter((entry) => matches(filter, entry));
  const seen = matching.slice(Math.floor(matching.length * (1 - part)));
  const span = (seen.at(-1)?.line.atMs ?? 0) - (seen[0]?.line.atMs ?? 0);
  const barMs =
    [60_000, 300_000, 900_000, 3_600_000, 10_800_000, 86_400_000].find((ms) => span / ms <= 120) ?? 7 * 86_400_000;
  const bars = new Map<number, T.Bar>();
  const count: T.LogCount = {
    calls: 0,
    refused: 0,
    oldestRev: seen[0]?.rev ?? null,
    newestRev: seen.at(-1)?.rev ?? null,
    barMs,
    bars: [],
    done: part === 1,
  };
  for (const { line } of seen) {
    if (line.kind !== 'call') continue;
    const fromMs = Math.floor(line.atMs / barMs) * barMs;
    const bar = bars.get(fromMs) ?? { fromMs, passed: 0, refused: 0, capped: 0 };
    bars.set(fromMs, bar);
    count.calls += 1;
    if (line.refused) count.refused += 1;
    if (!line.refused) bar.passed += 1;
    else if (line.decision === 'capped') bar.capped += 1;
    else bar.refused += 1;
  }
  count.bars = [...bars.values()].sort((a, b) => a.fromMs - b.fromMs);
  return count;
}

function detail(world: World, entry: Entry, line: T.CallLine & { kind: 'call' }): T.CallDetail {
  const { kind: _, ...plain } = line;
  const same = world.entries.flatMap(({ line: one }) =>
    one.kind === 'call' && one.session === line.session ? [one] : [],
  );
  const at = same.findIndex((one) => one.id === line.id);
  const rule = world.rules.find((one) => pointer(one) === line.rule && one.target.server === line.server);
  const body = (text: string | null): T.Body | null =>
    text === null ? null : { text, bytes: text.length, cut: false, masked: text.includes('<masked>'), withheld: false };
  const reason = line.reason ? `: ${line.reason}` : '';
  const said: Partial<Record<T.Decision, string>> = {
    allowed: 'Allowed: no rule refuses it',
    denied: `Denied${reason || ' by a rule'}`,
    capped: 'Capped: more calls than its limit lets through',
    hidden: 'Hidden: the agent is told that there is no such tool',
    paused: 'Paused by the user',
    would_deny: 'Let through while only watching; the rules would have denied it',
  };
  const excerpt = rule ? excerptOf(rule, line.tool ?? '*') : null;
  const now = world.now();
  return {
    line: plain,
    run: 1 + Math.floor(at / 40),
    args: body(entry.args),
    result: body(entry.result),
    why: {
      words: said[line.decision] ?? line.decision,
      rule: line.rule,
      excerpt,
      policy: world.version(line.server),
      counter:
        line.decision === 'capped' && rule
          ? {
              used: used(world, rule, now),
              max: rule.max,
              window: rule.window,
              freesMs: used(world, rule, now) >= rule.max ? now + 41_000 : null,
              words: `${used(world, rule, now)} of ${rule.max} this ${rule.window}`,
              next: used(world, rule, now) >= rule.max ? 'the next call passes in 41 s' : 'the next call passes',
            }
          : null,
      changedSince: line.rule !== null && !rule,
    },
    access: access(world, { ...line, rule: line.refused ? line.rule : null }),
    session: world.sessions.find((one) => one.session === line.session) ?? null,
    siblings: same.slice(Math.max(0, at - 5), at + 6).map(({ kind: __, ...one }) => one),
    json: JSON.stringify({ ...plain, args: JSON.parse(entry.args ?? 'null'), gist: gist({}) || undefined }, null, 2),
  };
}

/** The rule as a policy writes it. */
function excerptOf(rule: FakeRule, tool: string): string {
  const told = rule.reason === null ? {} : { reason: rule.reason };
  if (rule.kind === 'block') return JSON.stringify({ [tool]: { action: 'deny', ...told } }, null, 2);
  if (rule.kind === 'hide') return JSON.stringify({ [tool]: { action: 'hide' } }, null, 2);
  if (rule.kind === 'cap') {
    return JSON.stringify({ [tool]: { limits: [{ counter: tool, window: rule.window, max: rule.max }] } }, null, 2);
  }
  const of = rule.argument!;
  const path = of.path;
  if (of.kind === 'onlyInside')
    return JSON.stringify({ [tool]: { require: [{ path, op: 'inside', value: of.folder }] } }, null, 2);
  const condition =
    of.kind === 'equals'
      ? { path, op: 'eq', value: JSON.parse(of.value) }
      : { path, op: 'regex', value: `^${of.prefix}` };
  return JSON.stringify({ [tool]: { deny_if: [condition] } }, null, 2);
}

function runs(world: World, beforeMs: number): T.Run[] {
  const idle = 10 * 60_000;
  const open = new Map<string, T.Run & { used: Map<string, number> }>();
  const out: (T.Run & { used: Map<string, number> })[] = [];
  for (const line of world.calls()) {
    let run = open.get(line.session);
    if (!run || line.atMs - run.endedMs > idle) {
      run = {
        server: line.server,
        client: line.client,
        session: line.session,
        startedMs: line.atMs,
        endedMs: line.atMs,
        calls: 0,
        refused: 0,
        failed: 0,
        tools: [],
        toolCount: 0,
        running: false,
        used: new Map(),
      };
      open.set(line.session, run);
      out.push(run);
    }
    run.endedMs = line.atMs;
    run.calls += 1;
    if (line.refused) run.refused += 1;
    if (hasFailed(line)) run.failed += 1;
    const tool = line.tool ?? '?';
    run.used.set(tool, (run.used.get(tool) ?? 0) + 1);
  }
  return out
    .filter((run) => run.startedMs < beforeMs)
    .sort((a, b) => b.startedMs - a.startedMs)
    .map(({ used, ...run }) => ({
      ...run,
      running: world.now() - run.endedMs < idle,
      toolCount: used.size,
      tools: [...used]
        .sort((a, b) => b[1] - a[1])
        .slice(0, 3)
        .map(([tool]) => tool),
    }));
}

/** As the real gate looks for them: by calls that match, the newest first. It gives up after so many entries and shows what
 *  it has; a run that a page before told of is not told again. */
function runsMatching(world: World, filter: T.CallFilter, before: number | null, count: number): T.RunPage {
  const { entries } = world;
  const all = new Map<string, T.Run[]>();
  for (const run of runs(world, Number.POSITIVE_INFINITY)) all.set(run.session, [...(all.get(run.session) ?? []), run]);
  const runOf = (entry: Entry) => {
    const { line } = entry;
    if (line.kind !== 'call' || !matches(filter, entry)) return undefined;
    return all.get(line.session)?.find((run) => run.startedMs <= line.atMs && line.atMs <= run.endedMs);
  };
  const end = before === null ? entries.length : lowerBound(entries, before);
  const told = new Set(entries.slice(end).map(runOf));
  const found = new Set<T.Run>();
  let left = world.options.looks;
  for (let at = end - 1; at >= 0; at -= 1) {
    const run = runOf(entries[at]!);
    const isNew = run !== undefined && !told.has(run) && !found.has(run);
    if (left === 0 || (isNew && found.size === count)) return { runs: [...found], older: entries[at + 1]?.rev ?? null };
    left -= 1;
    if (isNew) found.add(run);
  }
  return { runs: [...found], older: null };
}
