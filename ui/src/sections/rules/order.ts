// In which order the tools of a server stand: as the gate has them, or by one of their numbers. Pure.
import type { ToolRule } from '../../lib/backend';

export type Sorted = 'name' | 'calls' | 'refused';

export interface Order {
  by: Sorted;
  down: boolean;
}

/** Names begin with a, numbers with the most. */
const first: Record<Sorted, boolean> = { name: false, calls: true, refused: true };

/** After a press on the heading: that way, the other way, and then again as it was. */
export function pressed(order: Order | null, by: Sorted): Order | null {
  if (order?.by !== by) return { by, down: first[by] };
  return order.down === first[by] ? { by, down: !order.down } : null;
}

const value = (rule: ToolRule, by: Sorted): string | number =>
  by === 'name' ? rule.name.toLowerCase() : by === 'calls' ? rule.calls : rule.hits;

export function inOrder(rules: readonly ToolRule[], order: Order | null): readonly ToolRule[] {
  if (order === null) return rules;
  const sign = order.down ? -1 : 1;
  return rules.toSorted((a, b) => {
    const [one, other] = [value(a, order.by), value(b, order.by)];
    return one === other ? 0 : one < other ? -sign : sign;
  });
}

/** For `aria-sort`. */
export const sortOf = (order: Order | null, by: Sorted): 'ascending' | 'descending' | 'none' =>
  order?.by !== by ? 'none' : order.down ? 'descending' : 'ascending';
