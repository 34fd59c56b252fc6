// What is said of a tool's class wherever it is named: a word with each colour.
import type { ClassBadge, RiskSeverity } from './backend';

/** How loud a badge is: red is for what cannot be undone. */
export const tones: Record<RiskSeverity, 'calm' | 'plain' | 'warn' | 'grave'> = {
  Low: 'calm',
  Medium: 'plain',
  High: 'warn',
  Critical: 'grave',
};

/** What is behind the class, where that is not the definition alone. */
export function behind({ corrected, confidence }: Pick<ClassBadge, 'corrected' | 'confidence'>): string | null {
  if (corrected) return 'as you say';
  return confidence === 'low' ? 'a guess' : null;
}
