// What the made-up gate decides about a call, by the rules in force.
import type * as T from '../backend';
import type { World } from './world';

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

const windows: Record<string, number> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

export function decide(
  world: World,
  { server, client }: T.SessionView,
  tool: string,
  args: Record<string, unknown>,
  atMs: number,
): Verdict {
  if (world.pausedAll || world.pausedServers.has(server))
    return { decision: 'paused', rule: null, reason: 'paused by the user' };
  const pass: Verdict = { decision: 'allowed', rule: null, reason: null };
  if (world.passNext.size > 0 && world.passNext.delete(`${server} ${client} ${tool} ${JSON.stringify(args)}`))
    return pass;
  const allowance = world.allowances.find(
    (one) =>
      one.server === server &&
      one.endsMs > atMs &&
      (one.client === null || one.client === client) &&
      (one.tool === null || one.tool === tool),
  );
  const rule = world.rules.find((one) => applies(world, one, server, client, tool, args, atMs));
  if (!rule) return pass;
  if (allowance)
    return allowance.tool === null ? { decision: 'would_deny', rule: pointer(rule), reason: rule.reason } : pass;
  const decision = rule.kind === 'cap' ? 'capped' : rule.kind === 'hide' ? 'hidden' : 'denied';
  return { decision, rule: pointer(rule), reason: rule.reason };
}

function applies(
  world: World,
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
  if (rule.kind === 'cap') return used(world, rule, atMs) >= rule.max;
  if (!rule.argument) return true;
  const value = args[rule.argument.path.replace(/^args\./, '')];
  if (rule.argument.kind === 'equals') return JSON.stringify(value) === rule.argument.value;
  if (typeof value !== 'string') return false;
  return rule.argument.kind === 'startsWith'
    ? value.startsWith(rule.argument.prefix)
    : !value.startsWith(rule.argument.folder);
}

/** Calls that count against this cap in its window. */
export function used(world: World, rule: FakeRule, atMs: number): number {
  const since = atMs - (windows[rule.window] ?? Number.parseInt(rule.window, 10) * 1_000);
  let count = 0;
  for (let at = world.entries.length - 1; at >= 0; at -= 1) {
    const { line } = world.entries[at]!;
    if (line.atMs < since) break;
    if (line.kind !== 'call' || line.refused || line.server !== rule.target.server) continue;
    if (rule.target.tool !== null && line.tool !== rule.target.tool) continue;
    if (rule.target.client !== null && line.client !== rule.target.client) continue;
    count += 1;
  }
  return count;
}

/** Where the rule stands in its policy. */
export function pointer(rule: FakeRule): string {
  const client = rule.target.client === null ? '' : `/clients/${rule.target.client}`;
  return `${client}/tools/${rule.target.tool ?? '*'}`;
}
