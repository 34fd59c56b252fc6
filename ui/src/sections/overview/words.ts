// What is said of what agents can call: counts of classes, and whether it is behind the gate.
import type { ClassCounts, RiskClass, SurfaceServer } from '../../lib/backend';
import { count } from '../../lib/format';

export const classKeys: readonly { key: Exclude<keyof ClassCounts, 'tools' | 'critical'>; name: RiskClass }[] = [
  { key: 'read', name: 'Read' },
  { key: 'write', name: 'Write' },
  { key: 'execute', name: 'Execute' },
  { key: 'destructive', name: 'Destructive' },
  { key: 'financial', name: 'Financial' },
];

/** "16 tools, 2 critical". */
export function sumWords(counts: ClassCounts): string {
  const critical = counts.critical > 0 ? `, ${counts.critical} critical` : '';
  return `${count(counts.tools, 'tool')}${critical}`;
}

/** "7 read, 2 write". */
export const classWords = (counts: ClassCounts): string =>
  classKeys
    .filter(({ key }) => counts[key] > 0)
    .map(({ key, name }) => `${counts[key]} ${name.toLowerCase()}`)
    .join(', ');

/** Whether it is behind the gate, and how loud that is said. */
export function gateOf(row: SurfaceServer): { words: string; tone: 'good' | 'warn' | 'bad' | 'calm' } {
  switch (row.state) {
    case 'protected':
      return row.watchOnly ? { words: 'watch only', tone: 'warn' } : { words: 'protected', tone: 'good' };
    case 'tampered':
      return { words: 'not as protected', tone: 'bad' };
    case 'open':
      return { words: 'not gated', tone: 'bad' };
    case 'notCoverable':
      return { words: 'not coverable', tone: 'calm' };
  }
}
