// A policy's text as far as the made-up gate reads it: rules as the form's drafts and in words, and drafts as rules.
import type * as T from '../bindings';
import { BackendError } from '../backend';
import { parse } from './jsonc';

export type Rule = {
  action?: T.Action;
  reason?: string;
  limits?: Record<string, unknown>[];
  require?: Record<string, unknown>[];
  deny_if?: Record<string, unknown>[];
  [other: string]: unknown;
};

export type PolicyText = {
  default?: T.Action;
  hide?: string[];
  mode?: string;
  unlisted?: string;
  all_tools?: Rule;
  tools?: Record<string, Rule>;
  clients?: Record<string, { all_tools?: Rule; tools?: Record<string, Rule> }>;
  codegen?: { keep_unfinished?: boolean };
};

export function readable(text: string): PolicyText | null {
  try {
    return parse(text) as PolicyText;
  } catch {
    return null;
  }
}

export function read(text: string): PolicyText {
  const policy = readable(text);
  if (!policy)
    throw new BackendError({
      code: 'brokenPolicy',
      message: 'The policy is broken: mend it in the text first.',
      detail: null,
    });
  return policy;
}

export function ruleFor(policy: PolicyText, tool: string): [string | null, Rule | undefined] {
  const rules = policy.tools ?? {};
  if (rules[tool]) return [tool, rules[tool]];
  for (const [name, rule] of Object.entries(rules))
    if (/[*?]/.test(name) && new RegExp(`^${name.replaceAll('*', '.*').replaceAll('?', '.')}$`).test(tool))
      return [name, rule];
  return [null, undefined];
}

export function draftOf(rule: Rule, hidden: boolean): T.RuleDraft | null {
  const known = new Set(['action', 'reason', 'limits', 'require', 'deny_if', 'description']);
  if (Object.keys(rule).some((key) => !known.has(key))) return null;
  if (rule.limits?.some((limit) => limit.kind === 'sum')) return null;
  const condition = (one: Record<string, unknown>): T.Condition => ({
    path: String(one.path),
    op: String(one.op),
    value: one.value === undefined ? null : JSON.stringify(one.value),
  });
  return {
    action: hidden ? 'hide' : (rule.action ?? 'allow'),
    reason: rule.reason ?? null,
    limits: (rule.limits ?? []).map((limit) => ({
      counter: (limit.counter as string | undefined) ?? null,
      limit: (limit.kind as T.LimitKind | undefined) ?? 'calls',
      max: Number(limit.max),
      window: limit.window === undefined ? null : String(limit.window),
      scope: String(limit.scope ?? 'grant'),
    })),
    require: (rule.require ?? []).map(condition),
    denyIf: (rule.deny_if ?? []).map((entry) => ({
      conditions: ((entry.conditions as Record<string, unknown>[] | undefined) ?? [entry]).map(condition),
      reason: (entry.on_deny as string | undefined) ?? null,
    })),
  };
}

export function ruleOf(draft: T.RuleDraft): Rule {
  const condition = (one: T.Condition) => ({
    path: one.path,
    op: one.op,
    ...(one.value === null ? {} : { value: JSON.parse(one.value) as unknown }),
  });
  const rule: Rule = {};
  if (draft.action === 'deny' || draft.action === 'ask') rule.action = draft.action;
  if (draft.reason) rule.reason = draft.reason;
  if (draft.require.length > 0) rule.require = draft.require.map(condition);
  if (draft.denyIf.length > 0)
    rule.deny_if = draft.denyIf.map((entry) => ({
      conditions: entry.conditions.map(condition),
      ...(entry.reason ? { on_deny: entry.reason } : {}),
    }));
  if (draft.limits.length > 0)
    rule.limits = draft.limits.map((limit, i) => ({
      counter: limit.counter ?? `limit_${i + 1}`,
      ...(limit.limit === 'calls' ? { window: limit.window } : { kind: limit.limit }),
      max: limit.max,
      scope: limit.scope,
    }));
  return rule;
}

export function state(draft: T.RuleDraft): T.ToolState {
  if (draft.action !== 'allow') return draft.action;
  if (draft.require.length + draft.denyIf.length > 0 || draft.limits.length > 1) return 'custom';
  return draft.limits.length === 1 ? 'cap' : 'allow';
}

export function words(rule: Rule | undefined, hidden: boolean, otherwise: T.Action): string {
  if (hidden) return 'not listed';
  if (!rule) return otherwise === 'allow' ? 'passes' : 'refused: not listed in the policy';
  if (rule.action === 'deny') return rule.reason ? `refused: ${rule.reason}` : 'refused';
  if (rule.action === 'ask') return 'a person is asked (not yet: refused)';
  const parts = [
    ...(rule.require ?? []).map((one) => `only when ${String(one.path)} ${String(one.op)} ${String(one.value)}`),
    ...(rule.deny_if ?? []).map((one) =>
      typeof one.on_deny === 'string' ? `refused when: ${one.on_deny}` : 'refused under a condition',
    ),
    ...(rule.limits ?? []).map((one) =>
      one.kind === 'sum'
        ? `${String(one.max)} in sum a ${String(one.window)}`
        : `at most ${String(one.max)} a ${String(one.window ?? 'time')}`,
    ),
  ];
  return parts.length === 0 ? 'passes' : parts.join('; ');
}

/** A stand-in for the real short hash: equal texts, equal versions. */
export function hash(text: string): string {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return value.toString(16).padStart(8, '0').slice(0, 8) + 'c0de';
}
