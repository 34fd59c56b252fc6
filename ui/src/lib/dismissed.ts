// What was said once and is not to be said again, by its words: other words are other news.
import type { Need } from './backend';

const storage = 'callgate.dismissed';
const keep = 20;

/** Only what is good to know: nothing is unprotected by it, and nothing here would mend it. */
export const dismissible = (need: Need): boolean => !need.serious && need.fix === null && need.server === null;

export function readDismissed(): string[] {
  try {
    const read: unknown = JSON.parse(localStorage.getItem(storage) ?? '[]');
    return Array.isArray(read) ? read.filter((one) => typeof one === 'string') : [];
  } catch {
    return [];
  }
}

export function writeDismissed(words: readonly string[]): void {
  try {
    localStorage.setItem(storage, JSON.stringify(words.slice(-keep)));
  } catch {
    // Then it counts for this session.
  }
}
