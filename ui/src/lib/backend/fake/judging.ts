// What the made-up gate says about a text of rules and about a single call: a few problems that it knows, and a verdict that is
// right for the policies beside it. The real checks are the gate's.
import type * as T from '../bindings';
import { BackendError } from '../backend';
import { parse } from './jsonc';
import type { KnownTool } from './policies';
import { read, ruleFor } from './reading';

export function checkPolicy(text: string): T.Diagnostic[] {
  const found: T.Diagnostic[] = [];
  const at = (what: string, severity: T.Severity, message: string, pointer: string | null) => {
    const from = text.indexOf(what);
    if (from < 0) return;
    const line = text.slice(0, from).split('\n').length;
    found.push({ from, to: from + what.length, line, severity, message, pointer });
  };
  at('"acton"', 'error', 'There is no key "acton" in a rule. Did you mean "action"?', '/tools/append_note/acton');
  at('"fortnight"', 'error', 'A window is "minute", "hour", "day", "week", or for example "90s".', null);
  at('"action": "ask"', 'warning', 'This version cannot ask yet: calls of this tool are refused.', null);
  if (found.length === 0 || !found.some((one) => one.severity === 'error')) {
    try {
      parse(text);
    } catch {
      const end = Math.max(0, text.trimEnd().length - 1);
      const line = text.slice(0, end).split('\n').length;
      found.push({
        from: end,
        to: end + 1,
        line,
        severity: 'error',
        message: 'The text ends here or goes wrong before: a comma, a quote or a bracket is missing.',
        pointer: null,
      });
    }
  }
  return found;
}

export function complete(tools: KnownTool[], text: string, offset: number): T.Completion[] {
  const before = /"?([\w.*-]*)$/.exec(text.slice(0, offset));
  const typed = before?.[1] ?? '';
  const from = offset - (before?.[0].length ?? 0);
  const afterColon = /:\s*"?[\w]*$/.test(text.slice(0, offset));
  const labels: [string, string | null][] = afterColon
    ? [
        ['allow', 'passes'],
        ['deny', 'is refused'],
      ]
    : [
        ...tools.map((tool): [string, string | null] => [tool.name, tool.description]),
        ['action', 'allow or deny'],
        ['reason', 'said when the rule denies'],
        ['require', 'conditions that must hold'],
        ['deny_if', 'conditions that must not hold'],
        ['limits', 'how often'],
      ];
  return labels
    .filter(([label]) => label.startsWith(typed))
    .map(([label, detail]) => ({ label, detail, from, apply: `"${label}"` }));
}

export function tryCall(text: string, client: string | null, tool: string, args: string): T.Tried {
  let given: Record<string, unknown>;
  try {
    given = args.trim() === '' ? {} : (JSON.parse(args) as Record<string, unknown>);
  } catch {
    throw bad('The arguments are no JSON. Write them as { "url": "https://example.org" }.');
  }
  const policy = read(text);
  const limits = ['120 calls a minute, counted in this session'];
  const tried = (decision: T.Decision, words: string, rule: string | null, excerpt: string | null): T.Tried => ({
    decision,
    passes: decision === 'allowed',
    words,
    rule,
    excerpt,
    limits,
  });
  if (policy.hide?.includes(tool))
    return tried(
      'hidden',
      `Hidden: the agent is told that ${tool} does not exist.`,
      '/hide',
      `"hide": ${JSON.stringify(policy.hide)}`,
    );
  const own = client === null ? undefined : policy.clients?.[client]?.tools?.[tool];
  const [name, rule] = own ? [tool, own] : ruleFor(policy, tool);
  const pointer = own ? `/clients/${client ?? ''}/tools/${tool}` : name === null ? '/default' : `/tools/${name}`;
  const excerpt = rule ? `"${name ?? ''}": ${JSON.stringify(rule, null, 2)}` : null;
  if (rule?.action === 'deny') return tried('denied', `Denied: ${rule.reason ?? 'by its rule'}`, pointer, excerpt);
  if (rule?.action === 'ask')
    return tried(
      'unsupported',
      'Refused: a person would be asked, which this version cannot do yet.',
      pointer,
      excerpt,
    );
  for (const [i, entry] of (rule?.deny_if ?? []).entries()) {
    const conditions = (entry.conditions as Record<string, unknown>[] | undefined) ?? [entry];
    const holds = conditions.every((one) => {
      const value = given[String(one.path).replace(/^args\./, '')];
      return one.op === 'regex'
        ? new RegExp(String(one.value)).test(String(value))
        : one.op === 'eq' && value === one.value;
    });
    if (holds)
      return tried(
        'denied',
        `Denied: ${typeof entry.on_deny === 'string' ? entry.on_deny : 'by a condition'}`,
        `${pointer}/deny_if/${i}`,
        excerpt,
      );
  }
  for (const limit of rule?.limits ?? [])
    limits.unshift(`${String(limit.max)} calls a ${String(limit.window)}, counted for each client`);
  if (!rule && policy.default === 'deny')
    return tried(
      'denied',
      'Denied: the policy lists no such tool, and its default is deny.',
      '/default',
      '"default": "deny"',
    );
  return tried('allowed', rule ? 'Allowed by its rule.' : 'Allowed by the default.', pointer, excerpt);
}

function bad(message: string): BackendError {
  return new BackendError({ code: 'badInput', message, detail: null });
}
