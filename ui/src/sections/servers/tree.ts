// Which rows of a process tree are shown. Pure.
import type { ProcessView } from '../../lib/backend';

/** Those that have somebody below them. */
export function foldable(processes: readonly ProcessView[]): ReadonlySet<number> {
  const parents = processes.filter((one, at) => (processes[at + 1]?.depth ?? -1) > one.depth);
  return new Set(parents.map((one) => one.pid));
}

/** Without what is below those that are folded. Each parent comes before its children. */
export function unfolded(processes: readonly ProcessView[], folded: ReadonlySet<number>): ProcessView[] {
  const shown: ProcessView[] = [];
  let under: number | null = null;
  for (const one of processes) {
    if (under !== null && one.depth > under) continue;
    under = folded.has(one.pid) ? one.depth : null;
    shown.push(one);
  }
  return shown;
}
