// What drifted in one client's file, folded: one lost file takes the gate from all its servers at once, and that is one thing
// to know and one thing to do.
import type { ClientFile, ClientView, DriftKind, DriftView, EntryKey } from '../backend';
import { unmended } from './entries';

/** One drift, or several of one kind. */
export interface DriftGroup {
  kind: DriftKind;
  serious: boolean;
  drifts: [DriftView, ...DriftView[]];
  /** What the gate would be put in front of, or taken away from. */
  entries: EntryKey[];
}

/** What several of one kind have in common, before their names. One has words of its own. */
export function severalWords(view: ClientView, { kind, drifts }: DriftGroup): string {
  const servers = `${drifts.length} servers`;
  if (kind === 'lostGate')
    return `${servers} have lost their gates and ${view.running === false ? 'would run' : 'run'} unwatched`;
  if (kind === 'otherGate') return `${servers} start a gate that is not of this home`;
  if (kind === 'new') return `${servers} are new and not protected`;
  return view.waits
    ? `${view.name} put the gate back in front of ${servers}: it ran when you took it away, and wrote its own copy over that`
    : `${servers} are behind the gate again, though you took it away`;
}

/** In the order of the file's own list; what is folded stands where the first of it stood. */
export function folded(view: ClientView, file: ClientFile): DriftGroup[] {
  const told: DriftGroup[] = [];
  for (const drift of file.drift.filter((one) => unmended(view, file.path, one))) {
    const { kind, serious, fix } = drift;
    const entries = fix?.kind === 'protect' || fix?.kind === 'unprotect' ? fix.entries : [];
    const alike = kind === 'other' ? undefined : told.find((one) => one.kind === kind);
    if (alike) {
      alike.drifts.push(drift);
      alike.entries.push(...entries);
    } else told.push({ kind, serious, drifts: [drift], entries: [...entries] });
  }
  return told;
}
