// The table of rules of the made-up gate: each tool with what its policy makes of it, for everyone and for single clients.
import type * as T from '../bindings';
import type { KnownTool } from './policies';
import { draftOf, ruleFor, state, words, type PolicyText, type Rule } from './reading';

const minute = 60_000;

/** Every tool that is known or named, patterns first. */
export function table(tools: KnownTool[], policy: PolicyText, now: number): T.ToolRule[] {
  const listed = tools.map((tool): T.ToolRule => {
    const [name, rule] = ruleFor(policy, tool.name);
    const hidden = policy.hide?.includes(tool.name) ?? false;
    const draft = draftOf(rule ?? (policy.default === 'deny' ? { action: 'deny' } : {}), hidden);
    const last = tool.lastMinutes === null ? null : now - tool.lastMinutes * minute;
    return {
      name: tool.name,
      pattern: false,
      listed: true,
      description: tool.description,
      state: draft ? state(draft) : 'custom',
      words: words(rule, hidden, policy.default ?? 'allow'),
      ...origin(tool.name, hidden ? tool.name : name),
      ...(hidden ? {} : forAll(policy)),
      draft,
      clients: clientRules(policy, tool.name),
      calls: tool.calls,
      hits: tool.hits,
      lastHitMs: tool.hits > 0 ? last : null,
      lastCallMs: last,
    };
  });
  const patterns = Object.entries(policy.tools ?? {})
    .filter(([name]) => /[*?]/.test(name))
    .map(([name, rule]): T.ToolRule => {
      const draft = draftOf(rule, false);
      const covered = listed.filter((tool) => ruleFor(policy, tool.name)[0] === name);
      return {
        name,
        pattern: true,
        listed: false,
        description: `${covered.length} ${covered.length === 1 ? 'tool' : 'tools'} now`,
        state: draft ? state(draft) : 'custom',
        words: words(rule, false, policy.default ?? 'allow'),
        ...origin(name, name),
        ...forAll(policy),
        draft,
        clients: clientRules(policy, name),
        calls: covered.reduce((sum, tool) => sum + tool.calls, 0),
        hits: covered.reduce((sum, tool) => sum + tool.hits, 0),
        lastHitMs: covered.find((tool) => tool.hits > 0)?.lastHitMs ?? null,
        lastCallMs: null,
      };
    });
  return [...patterns, ...listed];
}

/** What counts for every tool, for everyone and for single clients. */
export function forAllTools(policy: PolicyText): T.RuleForAll {
  const of = (rule: Rule | undefined) => {
    const draft = draftOf(rule ?? {}, false);
    return {
      state: draft ? state(draft) : 'custom',
      words: rule ? words(rule, false, 'allow') : 'nothing more',
      draft,
    } as const;
  };
  const clients = Object.entries(policy.clients ?? {}).flatMap(([client, { all_tools: rule }]) =>
    rule ? [{ client, ...of(rule) }] : [],
  );
  return { said: policy.all_tools !== undefined, ...of(policy.all_tools), clients };
}

/** Which part of the policy decides about this tool: the one of this name. */
function origin(tool: string, name: string | null): Pick<T.ToolRule, 'source' | 'from'> {
  if (name === null) return { source: 'default', from: 'the default' };
  return name === tool ? { source: 'own', from: 'its own rule' } : { source: 'pattern', from: `the pattern ${name}` };
}

/** A rule that refuses all tools decides, whatever their own ones say. */
function forAll({ all_tools: all }: PolicyText): Partial<Pick<T.ToolRule, 'state' | 'words' | 'source' | 'from'>> {
  if (all?.action !== 'deny') return {};
  return { state: 'deny', words: words(all, false, 'deny'), source: 'allTools', from: 'the rule for all tools' };
}

/** What the policy adds about this tool for single clients. */
function clientRules(policy: PolicyText, tool: string): T.ClientRule[] {
  return Object.entries(policy.clients ?? {}).flatMap(([client, body]) => {
    const [, rule] = ruleFor(body, tool);
    if (!rule) return [];
    const draft = draftOf(rule, false);
    return [{ client, state: draft ? state(draft) : 'custom', words: words(rule, false, 'allow'), draft }];
  });
}
