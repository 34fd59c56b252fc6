// The rules of a suggestion as they are read: one line a tool, with its conditions and caps below it.
import type { SuggestedRule } from '../../lib/backend';

export interface ToolLines {
  tool: string;
  /** The count that lists it. */
  why: string;
  more: SuggestedRule[];
}

export interface Grouped {
  tools: ToolLines[];
  hidden: SuggestedRule[];
  /** What counts for everything else. */
  rest: SuggestedRule[];
}

export function grouped(rules: readonly SuggestedRule[]): Grouped {
  const found: Grouped = { tools: [], hidden: [], rest: [] };
  for (const rule of rules) {
    if (rule.tool === null) found.rest.push(rule);
    else if (rule.words === 'hidden') found.hidden.push(rule);
    else if (rule.words === 'allowed') found.tools.push({ tool: rule.tool, why: rule.why, more: [] });
    else found.tools.findLast((line) => line.tool === rule.tool)?.more.push(rule);
  }
  return found;
}
