// Which server's rules are opened when nobody says which: the last one that was looked at, also after a restart; else the one
// that needs a person; else the one that was used last.
import type { Need, RulesSummary } from '../../lib/backend';

const storage = 'callgate.rules.server';

export function readChosen(): string | null {
  try {
    return localStorage.getItem(storage);
  } catch {
    return null;
  }
}

export function writeChosen(server: string): void {
  try {
    localStorage.setItem(storage, server);
  } catch {
    // Then it counts for this session's addresses only.
  }
}

export function toOpen(rows: readonly RulesSummary[], needs: readonly Need[], last: string | null): string | null {
  const known = (server: string | null | undefined) => rows.find((row) => row.server === server)?.server ?? null;
  const needed = needs.find((need) => need.fix?.kind === 'openRules')?.server ?? null;
  const broken = rows.find((row) => row.protection === 'broken')?.server ?? null;
  const [used] = rows
    .filter((row) => row.lastCallMs !== null)
    .toSorted((a, b) => (b.lastCallMs ?? 0) - (a.lastCallMs ?? 0));
  return known(last) ?? known(needed) ?? broken ?? used?.server ?? rows[1]?.server ?? rows[0]?.server ?? null;
}
