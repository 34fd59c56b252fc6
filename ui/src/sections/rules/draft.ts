// What the visual builder edits: a rule's draft, its sentence, and what is still missing in it. Pure.

import type {
  Action,
  Case,
  Condition,
  LimitDraft,
  LimitKind,
  RuleDraft,
  RulesView,
  ToolRule,
  ToolState,
} from '../../lib/backend/bindings';
import { knownAs } from '../../lib/clients/known';
import { fromJson, operator } from './value';

export const stateWords: Record<ToolState, string> = {
  allow: 'Allow',
  deny: 'Deny',
  hide: 'Hide',
  ask: 'Ask',
  cap: 'Cap',
  custom: 'Custom',
};

/** What a form is about: one tool or pattern, all tools at once, or those that no rule names. */
export type About = 'tool' | 'allTools' | 'default';

export const states: readonly ToolState[] = ['allow', 'deny', 'hide', 'ask', 'cap', 'custom'];

const actions: readonly { action: Action; words: string; means: string }[] = [
  { action: 'allow', words: 'Allow', means: 'passes, within the limits and conditions below' },
  { action: 'deny', words: 'Deny', means: 'is refused with the reason below; the agent still sees the tool' },
  { action: 'hide', words: 'Hide', means: "is not on the agent's list, and refused" },
  { action: 'ask', words: 'Ask', means: 'waits for your yes or no, unless what is below refuses it' },
];

/** Everything at once cannot be hidden. */
export function actionsFor(about: About): typeof actions {
  return actions.filter(({ action }) => action !== 'hide' || about !== 'allTools');
}

/** The same of states; a cap or conditions cannot be the default. */
export function statesFor(about: About): readonly ToolState[] {
  const fits = about === 'default' ? (['allow', 'deny', 'hide', 'ask'] as const) : states;
  return fits.filter((state) => state !== 'hide' || about !== 'allTools');
}

export const defaultWords: Record<Action, string> = {
  allow: 'tools that no rule names pass',
  deny: 'tools that no rule names are refused',
  ask: 'tools that no rule names are asked about',
  hide: 'tools that no rule names are refused, and not on the list of agents',
};

export const defaultMeans: Record<Action, string> = {
  allow: 'passes: whatever the server adds can be called at once',
  deny: 'is refused: what the server adds waits until a rule names it',
  ask: 'waits for your yes or no: you are asked about what the server adds',
  hide: "is refused, and not on the agent's list: it does not try",
};

/** The rule for all tools and the default, in the shape of a tool's: rows and forms are the same. */
export function generalRule(view: RulesView, about: 'allTools' | 'default'): ToolRule | null {
  const none = { class: null, pattern: false, listed: true, calls: 0, hits: 0, lastHitMs: null, lastCallMs: null };
  const { defaultAction, forAll } = view;
  if (about === 'allTools')
    return (
      forAll && {
        ...none,
        name: 'All tools',
        description: 'Counts besides what each tool has of its own',
        ...forAll,
        source: 'own',
        from: 'its own rule',
      }
    );
  return {
    ...none,
    name: 'Default',
    description: 'What becomes of tools that no rule names',
    state: defaultAction,
    words: defaultWords[defaultAction],
    source: 'default',
    from: 'the default',
    draft: emptyDraft(defaultAction),
    clients: [],
  };
}

const forClientWords: Partial<Record<ToolState, string>> = {
  deny: 'blocked',
  hide: 'hidden',
  ask: 'asked about',
  cap: 'capped',
  custom: 'other rules',
};

/** What the state leaves out: "blocked for Cursor", "blocked for 3 clients"; none if it is the same for everyone. */
export function exceptions({ state, clients }: ToolRule): string | null {
  if (state === 'deny' || state === 'hide') return null;
  for (const one of ['deny', 'hide', 'ask', 'cap', 'custom'] as const) {
    const names = clients.filter((rule) => rule.state === one && one !== state).map(({ client }) => client);
    if (names.length > 0)
      return `${forClientWords[one] ?? one} for ${names.length > 1 ? `${names.length} clients` : knownAs(names[0] ?? '')}`;
  }
  return null;
}

const stops = (state: ToolState): boolean => state === 'deny' || state === 'hide' || state === 'ask';

/** The first client that is refused, or asked about, what everyone else may call; none if nobody is. */
export function strictest({ state, clients }: ToolRule): string | null {
  if (stops(state)) return null;
  return clients.find((one) => stops(one.state))?.client ?? null;
}

export const limitKinds: readonly { kind: LimitKind; words: string; unit: string }[] = [
  { kind: 'calls', words: 'per time', unit: 'calls' },
  { kind: 'concurrent', words: 'at once', unit: 'calls at once' },
  { kind: 'total', words: 'in all', unit: 'calls in all' },
];

export const scopes: readonly { scope: string; words: string }[] = [
  { scope: 'grant', words: 'each client' },
  { scope: 'session', words: 'this session' },
  { scope: 'server', words: 'everyone on this server' },
  { scope: 'client', words: 'each client, all servers' },
  { scope: 'all', words: 'everyone everywhere' },
];

export const windows: readonly string[] = ['second', 'minute', 'hour', 'day', 'week'];

export function emptyDraft(action: Action = 'allow'): RuleDraft {
  return { action, reason: null, limits: [], require: [], denyIf: [], askIf: [] };
}

export function newLimit(max = 30, window = 'minute'): LimitDraft {
  return { counter: null, limit: 'calls', max, window, scope: 'grant' };
}

/** Every argument of a kind, whatever the tool calls it: stands where the way to one argument would. */
export const argumentKinds: readonly { kind: string; words: string; every: string; any: string; op: string }[] = [
  { kind: 'paths', words: 'any path', every: 'every path', any: 'a path', op: 'inside' },
  { kind: 'urls', words: 'any URL', every: 'every URL', any: 'a URL', op: 'regex' },
];

export function newCondition(path = 'args.'): Condition {
  return { path, op: 'eq', value: null };
}

export function newCase(path = 'args.'): Case {
  return { conditions: [newCondition(path)], reason: null };
}

/** A copy that can be edited without the original noticing. */
export function copyOf(draft: RuleDraft): RuleDraft {
  return {
    ...draft,
    limits: draft.limits.map((limit) => ({ ...limit })),
    require: draft.require.map((condition) => ({ ...condition })),
    denyIf: draft.denyIf.map(copyOfCase),
    askIf: draft.askIf.map(copyOfCase),
  };
}

const copyOfCase = (one: Case): Case => ({ ...one, conditions: one.conditions.map((each) => ({ ...each })) });

export function same(a: RuleDraft, b: RuleDraft): boolean {
  return JSON.stringify(normal(a)) === JSON.stringify(normal(b));
}

function normal(draft: RuleDraft): unknown {
  const { action, reason, limits, require, denyIf, askIf } = draft;
  const cases = (all: Case[]) => all.map((one) => [one.conditions.map((c) => [c.path, c.op, c.value]), one.reason]);
  return [
    action,
    reason?.trim() ? reason.trim() : null,
    limits.map((l) => [l.counter, l.limit, l.max, l.limit === 'calls' ? l.window : null, l.scope]),
    require.map((c) => [c.path, c.op, c.value]),
    cases(denyIf),
    cases(askIf),
  ];
}

/**
 * What the form holds after a person chose a state for a tool.
 * Allow keeps conditions and limits, as `callgate allow` does; Cap adds a limit if there is none.
 */
export function choose(rule: ToolRule, state: ToolState, advised: { max: number; window: string } | null): RuleDraft {
  const draft = copyOf(rule.draft ?? emptyDraft());
  switch (state) {
    case 'allow':
    case 'deny':
    case 'hide':
    case 'ask':
      return { ...draft, action: state };
    case 'cap':
      if (draft.limits.length === 0) draft.limits.push(newLimit(advised?.max, advised?.window));
      return { ...draft, action: 'allow' };
    case 'custom':
      if (draft.require.length + draft.denyIf.length + draft.askIf.length === 0) draft.denyIf.push(newCase());
      return { ...draft, action: 'allow' };
  }
}

/** The state that a draft amounts to. */
export function stateOf(draft: RuleDraft): ToolState {
  if (draft.action !== 'allow') return draft.action;
  if (draft.require.length + draft.denyIf.length + draft.askIf.length > 0 || draft.limits.length > 1) return 'custom';
  return draft.limits.length === 1 ? 'cap' : 'allow';
}

export interface Missing {
  /** Where: "limits.0.max", "require.1.path", "denyIf.0.conditions.2.value". */
  at: string;
  words: string;
}

/** What has to be filled in before the draft says anything. The real checks are the policy checker's. */
export function missing(draft: RuleDraft): Missing[] {
  const found: Missing[] = [];
  draft.limits.forEach((limit, i) => {
    if (!Number.isInteger(limit.max) || limit.max < 1 || limit.max > 4_294_967_295)
      found.push({ at: `limits.${String(i)}.max`, words: 'A whole number from 1.' });
    if (limit.limit === 'calls' && !windowReads(limit.window))
      found.push({ at: `limits.${String(i)}.window`, words: 'For example minute, hour, day, 90s, 15m, 2h.' });
  });
  const condition = (one: Condition, at: string) => {
    const ofKind = argumentKinds.some(({ kind }) => kind === one.path);
    if (!ofKind && !/^args(\.[^.\s[\]]+|\["[^"]+"\])*$/.test(one.path))
      found.push({ at: `${at}.path`, words: 'The way to an argument, such as args.url.' });
    if (one.value === null && operator(one.op).shape !== 'existence')
      found.push({ at: `${at}.value`, words: 'Something to compare with.' });
  };
  draft.require.forEach((one, i) => condition(one, `require.${String(i)}`));
  for (const key of ['denyIf', 'askIf'] as const)
    draft[key].forEach((entry, i) =>
      entry.conditions.forEach((one, k) => condition(one, `${key}.${String(i)}.conditions.${String(k)}`)),
    );
  return found;
}

export function windowReads(window: string | null): boolean {
  return window !== null && (windows.includes(window) || /^[1-9]\d{0,8}[smhd]?$/.test(window));
}

/** "10 a minute, each client". */
export function limitWords(limit: LimitDraft): string {
  const scope = scopes.find((known) => known.scope === limit.scope)?.words ?? limit.scope;
  const max = limit.max.toLocaleString('en');
  switch (limit.limit) {
    case 'calls':
      return `at most ${max} ${windowWords(limit.window)}, ${scope}`;
    case 'concurrent':
      return `at most ${max} at once, ${scope}`;
    case 'total':
      return `at most ${max} in all, ${scope}`;
  }
}

function windowWords(window: string | null): string {
  if (window === null || window === '') return 'in …';
  if (window === 'hour') return 'an hour';
  return windows.includes(window) ? `a ${window}` : `in ${/^\d+$/.test(window) ? `${window}s` : window}`;
}

/** "args.url matches ^file:"; what is required has to hold for every argument of a kind, what refuses for one. */
export function conditionWords(condition: Condition, required = false): string {
  const { words, shape } = operator(condition.op);
  const kind = argumentKinds.find((known) => known.kind === condition.path);
  const one = condition.path === '' || condition.path === 'args.' ? '…' : condition.path;
  const path = kind ? (required && shape !== 'existence' ? kind.every : kind.any) : one;
  if (shape === 'existence') return `${path} is ${condition.value === 'false' ? 'missing' : 'there'}`;
  const values = condition.value === null ? [] : fromJson(condition.op, condition.value).split('\n');
  // In quotes: a value may end in a colon or a full stop.
  const value = values.length === 0 ? '…' : values.map((one) => `“${one}”`).join(' or ');
  return `${path} ${words} ${value}`;
}

/** The whole draft in words, one thing a sentence. */
export function sentences(draft: RuleDraft, about: About = 'tool'): string[] {
  if (about === 'default') {
    const words = defaultWords[draft.action];
    return [`${words.charAt(0).toUpperCase()}${words.slice(1)}.`];
  }
  const reason = draft.reason?.trim();
  if (draft.action === 'deny') return [reason ? `Every call is refused: ${reason}` : 'Every call is refused.'];
  if (draft.action === 'hide') return ["Not on the agent's list; every call is refused."];
  const said = [
    ...draft.require.map((one) => `Refused unless ${conditionWords(one, true)}.`),
    ...draft.denyIf.map((entry) => caseWords('Refused', entry)),
    ...draft.limits.map((limit) => {
      const words = limitWords(limit);
      return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
    }),
  ];
  const left = said.length === 0 ? 'every call' : 'everything else';
  if (draft.action === 'ask') said.push(`You are asked about ${left}${reason ? `: ${reason}` : '.'}`);
  else said.push(...draft.askIf.map((entry) => caseWords('You are asked', entry)));
  if (about === 'allTools') return [...said, 'What each tool has of its own counts besides.'];
  if (draft.action === 'ask') return said;
  return said.length === 0 ? ['Every call passes.'] : [...said, 'Everything else passes.'];
}

/** "Refused when args.url matches ^file:". */
function caseWords(verb: string, { conditions, reason }: Case): string {
  const when = conditions.map((one) => conditionWords(one)).join(' and ');
  return `${verb} when ${when === '' ? 'called' : when}${reason ? `: ${reason}` : '.'}`;
}
