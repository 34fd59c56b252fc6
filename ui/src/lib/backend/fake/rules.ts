// The rules of the in-memory backend. It reads a policy just far enough to fill tables and forms; it judges nothing.
import type * as T from '../bindings';
import { BackendError, type Backend } from '../backend';
import { checkPolicy, complete, tryCall } from './judging';
import { set, unified } from './jsonc';
import { clients, defaultPolicy, policies, tools, type KnownTool } from './policies';
import { hash, read, readable, ruleFor, ruleOf, words, type PolicyText, type Rule } from './reading';
import { readyParts, readyRules } from './ready';
import { forAllTools, table } from './table';
import type { World } from './world';

type Rules = Pick<
  Backend,
  | 'rules'
  | 'rulesSummary'
  | 'checkPolicy'
  | 'complete'
  | 'draftRule'
  | 'draftDefault'
  | 'draftReady'
  | 'propose'
  | 'tryCall'
  | 'effect'
  | 'suggestRules'
  | 'savePolicy'
  | 'versions'
  | 'versionDiff'
>;

export function fakeRules(world: World): Rules & { policies: FakeRules } {
  const rules = new FakeRules(world);
  world.lastGood = (server) => rules.lastGood(server);
  world.revert = (server, change) => rules.revert(server, change);
  return {
    policies: rules,
    rules: async (server) => rules.rules(server),
    checkPolicy: async (_server, text) => checkPolicy(text),
    rulesSummary: async () => rules.summary(),
    complete: async (server, text, offset) => complete(rules.toolsOf(server), text, offset),
    draftRule: async (text, target, draft) => rules.draftRule(text, target, draft),
    draftDefault: async (text, action) => rules.draftDefault(text, action),
    draftReady: async (_server, text, id, folder) => rules.draftReady(text, id, folder),
    propose: async (server, text) => rules.propose(server, text),
    tryCall: async (_server, text, client, tool, args) => tryCall(text, client, tool, args),
    effect: async (server, text, days) => rules.effect(server, text, days),
    suggestRules: async (server, days) => rules.suggestRules(server, days),
    savePolicy: async (server, baseText, text) => rules.savePolicy(server, baseText, text),
    versions: async (server) => rules.versions(server),
    versionDiff: async (server, change) => rules.versionDiff(server, change),
  };
}

interface Kept {
  text: string;
  versions: { view: T.PolicyVersionView; before: string; after: string }[];
  own: boolean;
}

const minute = 60_000;
const described = (server: string) => (server === '_default' ? 'the default policy' : `the rules of ${server}`);

export class FakeRules {
  #kept = new Map<string, Kept>();
  #world: World;
  #next = 1_000_040;
  /** As if there were too many calls to count them all. */
  countedSinceMs: number | null = null;

  constructor(world: World) {
    this.#world = world;
    for (const server of new Set([...world.servers.map((one) => one.name), ...Object.keys(tools)])) {
      const text = policies[server] ?? defaultPolicy;
      const kept: Kept = { text, versions: [], own: server in policies };
      if (server === 'playwright') this.#past(kept);
      else if (kept.own)
        this.#note(
          kept,
          text.replace(/"default": "\w+"/, '"default": "allow"'),
          text,
          'first policy',
          'file',
          false,
          9 * 1440,
        );
      this.#kept.set(server, kept);
    }
  }

  /** What the rules say to a clear of an open recording. The real judgement is the gate's. */
  clearing(server: string): T.Clearing {
    if (this.#world.pausedAll || this.#world.pausedServers.has(server))
      return { kind: 'refused', reason: 'all calls are paused by the user' };
    const policy = read(this.#of(server).text);
    if (policy.mode === 'observe') return { kind: 'passes', canBeKept: false };
    return policy.codegen?.keep_unfinished === true ? { kind: 'kept' } : { kind: 'passes', canBeKept: true };
  }

  /** Writes the rule that refuses it; gives what takes that back. */
  keepRecordings(server: string): () => void {
    const kept = this.#of(server);
    const before = kept.text;
    const after = set(before, ['codegen', 'keep_unfinished'], true);
    this.#note(kept, before, after, 'codegen sessions with recorded actions are not cleared', 'window', false, 0);
    kept.text = after;
    return () => {
      this.#note(kept, after, before, 'undone', 'window', true, 0);
      kept.text = before;
    };
  }

  /** Somebody edits the file in another program. */
  editElsewhere(server: string, text: string): void {
    const kept = this.#of(server);
    this.#note(kept, kept.text, text, 'edited as a file', 'file', false, 0);
    kept.text = text;
  }

  rules(server: string): T.RulesView {
    const kept = this.#of(server);
    const diagnostics = checkPolicy(kept.text);
    const broken = diagnostics.some((one) => one.severity === 'error');
    const policy = broken ? {} : read(kept.text);
    const good = kept.versions.find(({ after }) => readable(after));
    return {
      server,
      isDefault: server === '_default',
      own: kept.own || server === '_default',
      path: `~/.callgate/policies/${kept.own ? server : '_default'}.json`,
      text: kept.text,
      version: broken ? null : hash(kept.text),
      broken: broken
        ? {
            words:
              '1 running session keeps the last good version. Sessions that start now refuse every call until it is mended.',
            lastGoodMs: good?.view.atMs ?? null,
          }
        : null,
      diagnostics,
      defaultAction: policy.default === 'deny' && policy.unlisted === 'hide' ? 'hide' : (policy.default ?? 'allow'),
      observing: policy.mode === 'observe',
      forAll: broken ? null : forAllTools(policy),
      tools: broken ? [] : table(this.toolsOf(server), policy, this.#world.now()),
      countedSinceMs: this.countedSinceMs,
      clients: this.#clientsOf(server),
      ready: broken
        ? []
        : readyRules(
            policy,
            this.toolsOf(server).map((tool) => tool.name),
          ),
    };
  }

  summary(): T.RulesSummary[] {
    const names = [...new Set([...this.#kept.keys(), 'linear', 'memory'])].filter((name) => name !== '_default').sort();
    return ['_default', ...names].map((server) => {
      const { own, isDefault, tools: rows, broken } = this.rules(server);
      const is = (...states: T.ToolState[]) => rows.filter(({ state }) => states.includes(state)).length;
      const { callsToday, refusedToday, lastCallMs } = this.#world.numbers(server);
      return {
        server,
        isDefault,
        own,
        followers: isDefault ? names.filter((name) => !this.#of(name).own).length : 0,
        state: this.#world.sessions.some((one) => one.server === server && one.endedMs === null)
          ? 'running'
          : lastCallMs === null
            ? 'neverStarted'
            : 'stopped',
        protection: broken ? 'broken' : is('deny', 'hide', 'custom') > 0 ? 'enforcing' : 'watchOnly',
        problem: broken?.words ?? null,
        tools: rows.length,
        denied: is('deny', 'ask'),
        hidden: is('hide'),
        capped: is('cap'),
        custom: is('custom'),
        callsToday,
        refusedToday,
        lastCallMs,
        lastChangeMs: this.#of(server).versions[0]?.view.atMs ?? null,
      };
    });
  }

  /** Puts the newest text that can be read back. */
  lastGood(server: string): T.Answer {
    const kept = this.#of(server);
    const good = kept.versions.find(({ after }) => after !== kept.text && readable(after))?.after ?? defaultPolicy;
    const write = () => this.#write(server, good, this.#proposal(kept.text, good));
    const words = `Put the last good version of the rules of ${server} back? What the file says now is replaced.`;
    return { kind: 'ask', ...this.#ask(words, ['calls are judged by its rules again'], write) };
  }

  draftReady(text: string, id: string, folder: string | null): T.Proposal {
    const part = readyParts[id];
    if (!part || (id === 'output-inside' && !folder?.trim()))
      throw new BackendError({
        code: 'badInput',
        message: part ? 'say which folder is meant' : `there is no ready-made rule ${id}`,
        detail: null,
      });
    return this.#proposal(text, set(text, part.path, part.value(folder ?? '')));
  }

  draftRule(text: string, target: T.Target, draft: T.RuleDraft): T.Proposal {
    const policy = read(text);
    const root = target.client === null ? [] : ['clients', target.client];
    const { tool } = target;
    if (tool === null) return this.#proposal(text, set(text, [...root, 'all_tools'], ruleOf(draft)));
    let next = text;
    const hidden = target.client === null ? (policy.hide ?? []) : [];
    const unhidden = hidden.filter((name) => name !== tool);
    if (draft.action === 'hide' && !hidden.includes(tool)) next = set(next, ['hide'], [...hidden, tool]);
    else if (draft.action !== 'hide' && unhidden.length < hidden.length) next = set(next, ['hide'], unhidden);
    const had = target.client === null ? policy.tools?.[tool] : policy.clients?.[target.client]?.tools?.[tool];
    const rule = ruleOf(draft);
    if (draft.action !== 'hide' && (had !== undefined || Object.keys(rule).length > 0 || policy.default === 'deny'))
      next = set(next, [...root, 'tools', tool], rule);
    return this.#proposal(text, next);
  }

  draftDefault(text: string, action: T.Action): T.Proposal {
    const next = set(text, ['default'], action === 'hide' ? 'deny' : action);
    if (action === 'hide') return this.#proposal(text, set(next, ['unlisted'], 'hide'));
    return this.#proposal(text, next.replace(/,?\s*"unlisted": "hide"/, ''));
  }

  propose(server: string, text: string): T.Proposal {
    return this.#proposal(this.#of(server).text, text);
  }

  /** Of the default policy: over the servers that follow it. */
  effect(server: string, text: string, days: number): T.Effect {
    if (server === '_default') {
      const names = this.summary().filter((one) => !one.isDefault && !one.own);
      const words = `No call of the ${names.length} servers that follow it would have been decided differently in the last ${days} days.`;
      return { days, calls: 12, more: 0, fewer: 0, words, details: [], tools: [], moreCalls: [], fewerCalls: [] };
    }
    const before = read(this.#of(server).text);
    const after = read(text);
    const calls = Math.max(12, Math.round(this.toolsOf(server).reduce((sum, tool) => sum + tool.calls, 0) / 26));
    const apart = { moreCalls: [] as T.CallLine[], fewerCalls: [] as T.CallLine[] };
    const tools: T.ToolDifference[] = [];
    for (const tool of this.toolsOf(server)) {
      const was = this.#verdict(before, tool.name);
      const will = this.#verdict(after, tool.name);
      if (was === will) continue;
      const stricter = will > was;
      const count = stricter
        ? Math.max(1, Math.min(50, Math.round(tool.calls / 26) - (will === 1 ? tool.calls / 40 : 0)) | 0)
        : Math.max(1, Math.round(tool.hits / 26));
      tools.push({ tool: tool.name, more: stricter ? count : 0, fewer: stricter ? 0 : count });
      const calls = stricter ? apart.moreCalls : apart.fewerCalls;
      for (let i = 0; i < Math.min(count, 12); i += 1)
        calls.push(this.#example(server, tool.name, apart.moreCalls.length + apart.fewerCalls.length));
    }
    const sum = (of: 'more' | 'fewer') => tools.reduce((all, tool) => all + tool[of], 0);
    const [more, fewer, today] = [sum('more'), sum('fewer'), sum('fewer') + 41];
    const last = days === 1 ? 'the last day' : `the last ${days} days`;
    return {
      days,
      calls,
      more,
      fewer,
      words:
        tools.length === 0
          ? `No call of ${last} would have been decided differently.`
          : `Refuses ${more} ${more === 1 ? 'call' : 'calls'} more than today's rules, ${fewer} fewer.`,
      details: [`Of ${calls} calls in ${last}, today's rules refuse ${today}, these ${today + more - fewer}.`],
      tools: tools.sort((a, b) => b.more + b.fewer - a.more - a.fewer),
      ...apart,
    };
  }

  /** As the real one says it: tools that were used, each with its count; the others hidden. */
  suggestRules(server: string, days: number): T.RuleSuggestion {
    const used = this.toolsOf(server).filter((tool) => tool.calls > tool.hits);
    const calls = used.reduce((sum, tool) => sum + tool.calls, 0);
    if (calls === 0) return { calls, enough: false, words: [], notes: [], rules: [], proposal: null, effect: null };
    const unused = this.toolsOf(server).filter((tool) => tool.calls === 0);
    const enough = calls >= 50;
    const rules: T.SuggestedRule[] = used.flatMap((tool) => [
      { tool: tool.name, words: 'allowed', why: `${tool.calls} calls` },
      ...(/click|type|write|create/.test(tool.name)
        ? [{ tool: tool.name, words: 'at most 20 a minute', why: 'at most 9 in any minute' }]
        : []),
    ]);
    for (const tool of unused) rules.push({ tool: tool.name, words: 'hidden', why: `0 calls in ${days} days` });
    rules.push({ tool: null, words: 'tools that are not listed are refused', why: '' });
    let text = set(this.#of(server).text, ['default'], 'deny');
    const known = read(text).tools ?? {};
    for (const tool of used) if (!(tool.name in known)) text = set(text, ['tools', tool.name], {});
    if (unused.length > 0) text = set(text, ['hide'], [...(read(text).hide ?? []), ...unused.map((tool) => tool.name)]);
    const tools = `${used.length} ${used.length === 1 ? 'tool' : 'tools'}`;
    return {
      calls,
      enough,
      words: [
        `Drafted from ${calls} calls of ${tools} by 2 clients in the last ${days} days. Read it before you use it.`,
        ...(enough
          ? []
          : [
              `Too little to go on: ${calls} calls on 1 day. Rules drawn from so little refuse ordinary work; watch for longer first.`,
            ]),
      ],
      notes: used
        .filter((tool) => tool.name.includes('evaluate'))
        .map(
          (tool) =>
            `${tool.name} runs code that agents write (in function): no rule can tell what it will do; deny it if you can do without`,
        ),
      rules,
      proposal: this.#proposal(this.#of(server).text, text),
      effect: this.effect(server, text, days),
    };
  }

  savePolicy(server: string, baseText: string, text: string): T.SaveAnswer {
    const kept = this.#of(server);
    const diagnostics = checkPolicy(text).filter((one) => one.severity === 'error');
    if (diagnostics.length > 0) return { kind: 'broken', diagnostics };
    const version = this.rules(server).version;
    if (kept.text !== baseText) return { kind: 'conflict', theirs: kept.text, version, diff: unified(kept.text, text) };
    const proposal = this.#proposal(kept.text, text);
    const write = (): T.Done => this.#write(server, text, proposal);
    if (proposal.loosened.length > 0)
      return {
        kind: 'ask',
        ...this.#ask(`Save ${described(server)} so? More is let through than now.`, proposal.loosened, write),
      };
    const before = kept.text;
    const back = () => {
      this.#note(kept, text, before, `${proposal.summary.join('; ')} (undone)`, 'window', false, 0);
      kept.text = before;
    };
    const done = write();
    return { kind: 'done', ...done, undo: this.#world.undoable(done.words, server, back) };
  }

  versions(server: string): T.PolicyVersionView[] {
    const all = this.#of(server).versions;
    // As the real one tells it: what came back to what it was before.
    return all.map(({ view, before }, at) => ({
      ...view,
      current: at === 0,
      takenBack: all[at - 1]?.after === before,
    }));
  }

  versionDiff(server: string, change: number): string {
    const found = this.#of(server).versions.find(({ view }) => view.id === change);
    if (!found)
      throw new BackendError({
        code: 'notFound',
        message: `There is no change ${change} of ${server} on record.`,
        detail: null,
      });
    return unified(found.before, found.after);
  }

  /** Takes one change back; asks if that loosens. */
  revert(server: string, change: number): T.Answer | null {
    const kept = this.#of(server);
    const found = kept.versions.find(({ view }) => view.id === change);
    if (!found) return null;
    if (kept.text !== found.after)
      throw new BackendError({
        code: 'conflict',
        message: 'This place was changed again since. Nothing was undone.',
        detail: null,
      });
    const proposal = this.#proposal(kept.text, found.before);
    proposal.summary = [`reverted: ${found.view.summary}`];
    const write = () => this.#write(server, found.before, proposal);
    if (proposal.loosened.length > 0)
      return {
        kind: 'ask',
        ...this.#ask(`Take back this change of ${server}?`, proposal.loosened, write),
        details: found.view.summary.split('; '),
      };
    return { kind: 'done', ...write() };
  }

  #ask(words: string, loosened: string[], act: () => T.Done): T.Question {
    const token = `policy-${this.#next++}`;
    this.#world.questions.set(token, { untilMs: this.#world.now() + 120_000, act });
    return { token, words, details: [], loosened };
  }

  toolsOf(server: string): KnownTool[] {
    const known = this.#world.server(server);
    if (!known) return tools[server] ?? [];
    const found = known.tools.map((tool) => ({
      name: tool.name,
      description: tool.description,
      calls: 0,
      hits: 0,
      lastMinutes: null as number | null,
    }));
    for (const line of this.#world.calls()) {
      const tool = line.server === server ? found.find((one) => one.name === line.tool) : undefined;
      if (!tool) continue;
      tool.calls += 1;
      if (line.refused) tool.hits += 1;
      tool.lastMinutes = (this.#world.now() - line.atMs) / minute;
    }
    return found;
  }

  #clientsOf(server: string): string[] {
    return this.#world.server(server)?.clients ?? clients[server] ?? [];
  }

  #of(server: string): Kept {
    const kept = this.#kept.get(server) ?? { text: defaultPolicy, versions: [], own: false };
    this.#kept.set(server, kept);
    return kept;
  }

  #write(server: string, text: string, proposal: T.Proposal): T.Done {
    const kept = this.#of(server);
    const summary = proposal.summary.join('; ') || 'changed nothing that counts';
    this.#note(kept, kept.text, text, summary, 'window', proposal.loosened.length > 0, 0);
    kept.text = text;
    kept.own = true;
    this.#world.changed(server, summary, proposal.loosened.length > 0);
    return { words: `Saved ${described(server)}: ${summary}`, undo: null, server, version: hash(text), endsMs: null };
  }

  #note(
    kept: Kept,
    before: string,
    after: string,
    summary: string,
    origin: string,
    loosened: boolean,
    minutesAgo: number,
  ): void {
    const view: T.PolicyVersionView = {
      id: this.#next++,
      atMs: this.#world.now() - minutesAgo * minute,
      origin,
      summary,
      version: hash(after),
      // What is first has nothing before it.
      previous: summary.startsWith('first policy') ? null : hash(before),
      current: true,
      loosened,
      takenBack: false,
    };
    kept.versions.unshift({ view, before, after });
  }

  #past(kept: Kept): void {
    const now = kept.text;
    const uncapped = set(now, ['tools', 'browser_click'], {});
    const open = set(uncapped, ['tools', 'browser_evaluate'], {});
    this.#note(kept, defaultPolicy, open, 'first policy: 5 rules, default allow', 'file', false, 26 * 1440);
    this.#note(
      kept,
      open,
      uncapped,
      'block browser_evaluate (no scripts: use browser_snapshot)',
      'window',
      false,
      11 * 1440,
    );
    this.#note(
      kept,
      uncapped,
      set(uncapped, ['tools', 'browser_click'], {
        limits: [{ counter: 'browser_click_cap', window: 'minute', max: 10, scope: 'grant' }],
      }),
      'cap browser_click 10/minute',
      'cli',
      false,
      3000,
    );
    this.#note(
      kept,
      kept.versions[0]?.after ?? now,
      now,
      'cap browser_click 20/minute (was 10/minute)',
      'window',
      true,
      190,
    );
  }

  /** How much stands against this tool; 3: it is refused. */
  #verdict(policy: PolicyText, tool: string): number {
    if (policy.hide?.includes(tool)) return 3;
    const [, rule] = ruleFor(policy, tool);
    if (!rule && policy.default !== 'allow' && policy.default !== undefined) return 3;
    const weight = ({ action, deny_if, require, limits }: Rule): number => {
      if (action && action !== 'allow') return 3;
      return (deny_if?.length ?? 0) + (require?.length ?? 0) + (limits?.length ?? 0) > 0 ? 1 : 0;
    };
    const [own, all] = [weight(rule ?? {}), weight(policy.all_tools ?? {})];
    return Math.min(3, own + all);
  }

  #example(server: string, tool: string, i: number): T.CallLine {
    const gists = [
      'url: file:///etc/hostname',
      'element: "Sign in", ref: e12',
      'path: ~/projects/site/index.html',
      'function: () => document.cookie',
    ];
    return {
      rev: 9000 - i,
      id: `k3v9qa-${(i + 60).toString(36)}`,
      atMs: this.#world.now() - (37 + i * 211) * minute,
      server,
      client: this.#clientsOf(server)[i % Math.max(1, this.#clientsOf(server).length)] ?? null,
      session: 's1',
      tool,
      method: null,
      gist: gists[i % gists.length] ?? '',
      decision: 'allowed',
      refused: false,
      rule: null,
      reason: null,
      outcome: 'ok',
      durationUs: 41_000,
      bytes: 900,
      demo: false,
      times: 1,
      firstRev: 9000 - i,
      firstMs: this.#world.now() - (37 + i * 211) * minute,
      tools: [],
      foldKey: null,
      repeatable: false,
    };
  }

  #proposal(before: string, after: string): T.Proposal {
    const summary: string[] = [];
    const loosened: string[] = [];
    const [a, b] = [readable(before), readable(after)];
    if (a && b) {
      const names = new Set([
        ...Object.keys(a.tools ?? {}),
        ...Object.keys(b.tools ?? {}),
        ...(a.hide ?? []),
        ...(b.hide ?? []),
      ]);
      for (const name of names) {
        const [was, will] = [
          words(a.tools?.[name], a.hide?.includes(name) ?? false, a.default ?? 'allow'),
          words(b.tools?.[name], b.hide?.includes(name) ?? false, b.default ?? 'allow'),
        ];
        if (was === will && JSON.stringify(a.tools?.[name]) === JSON.stringify(b.tools?.[name])) continue;
        summary.push(`${name}: ${will}`);
        if (this.#verdict(b, name) < this.#verdict(a, name))
          loosened.push(`${name} was “${was}” and will be “${will}”`);
      }
      for (const client of Object.keys(b.clients ?? {}))
        if (JSON.stringify(a.clients?.[client]) !== JSON.stringify(b.clients?.[client]))
          summary.push(`${client}: rules of its own`);
      if (JSON.stringify(a.all_tools) !== JSON.stringify(b.all_tools)) {
        const [was, will] = [words(a.all_tools, false, 'allow'), words(b.all_tools, false, 'allow')];
        summary.push(`all tools: ${will}`);
        const refusesLess = a.all_tools?.action === 'deny' && b.all_tools?.action !== 'deny';
        const capsLess = (b.all_tools?.limits?.length ?? 0) < (a.all_tools?.limits?.length ?? 0);
        if (refusesLess || (capsLess && b.all_tools?.action !== 'deny'))
          loosened.push(`all tools were “${was}” and will be “${will}”`);
      }
      if (a.default !== b.default) summary.push(`default: ${b.default ?? 'allow'}`);
      if (a.default === 'deny' && b.default === 'allow') loosened.push('tools that are not listed pass');
    }
    if (summary.length === 0 && before !== after) summary.push('comments or layout only');
    return { text: after, diff: unified(before, after), summary, loosened };
  }
}
