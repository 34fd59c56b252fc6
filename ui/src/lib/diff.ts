// Unified diffs, as the backend sends them, taken apart for showing.

export type DiffKind = 'added' | 'removed' | 'same' | 'place';

export interface DiffLine {
  kind: DiffKind;
  text: string;
  /** Line number in the old and in the new text. */
  old: number | null;
  new: number | null;
}

/** The lines of a unified diff without its file names; "place" stands for what was left out. */
export function diffLines(diff: string): DiffLine[] {
  const found: DiffLine[] = [];
  let before = 0;
  let after = 0;
  let inside = false;
  for (const line of diff.split('\n')) {
    const place = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    if (place) {
      before = Number(place[1]);
      after = Number(place[2]);
      inside = true;
      found.push({ kind: 'place', text: `line ${String(after)}`, old: null, new: null });
    } else if (!inside || line === '' || line.startsWith('\\')) {
      continue;
    } else if (line.startsWith('+')) {
      found.push({ kind: 'added', text: line.slice(1), old: null, new: after });
      after += 1;
    } else if (line.startsWith('-')) {
      found.push({ kind: 'removed', text: line.slice(1), old: before, new: null });
      before += 1;
    } else {
      found.push({ kind: 'same', text: line.slice(1), old: before, new: after });
      before += 1;
      after += 1;
    }
  }
  return found;
}

export function diffCounts(lines: readonly DiffLine[]): { added: number; removed: number } {
  return {
    added: lines.filter((line) => line.kind === 'added').length,
    removed: lines.filter((line) => line.kind === 'removed').length,
  };
}
