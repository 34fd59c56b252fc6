// What is said of a tool's class and state: a word with each colour.
import type { ToolPage, ToolRow, ToolState } from '../../lib/backend';
import { behind } from '../../lib/classes';

/** What the rules make of it, as the log says it. */
export const stateWords: Record<ToolState, string> = {
  allow: 'allowed',
  deny: 'denied',
  hide: 'hidden',
  ask: 'asked about',
  cap: 'limited',
  custom: 'with conditions',
};

export const stateOf = (row: ToolRow): string => (row.state === null ? 'policy broken' : stateWords[row.state]);

/** What is behind the class, where that is not the definition alone. */
export function mark(row: ToolRow): string | null {
  return row.findings > 0 ? 'look at it' : behind(row);
}

/** Every word of it has to be in the tool's name, its server's, its description, its class or its state. */
export function finds(row: ToolRow, typed: string): boolean {
  const text = `${row.name} ${row.server} ${row.about} ${row.class} ${row.severity} ${stateOf(row)}`.toLowerCase();
  return typed
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** Yes to what the rule lets through. */
export const yesWord = (page: ToolPage): string => (page.recommended.act === 'keep' ? 'Allow' : 'Apply');
