// What drifted in one client's file, folded: one lost file takes the gate from all its servers at once, and that is one thing
// to know and one thing to do.
import type { ClientFile, ClientView, DriftView, EntryKey } from '../backend';
import { unmended } from './entries';

/** One drift, or several of one kind that the gate would mend. Serious: these had the gate; else they never had one. */
export interface Told {
  serious: boolean;
  drifts: [DriftView, ...DriftView[]];
  /** What the gate would be put in front of. */
  entries: EntryKey[];
}

/** In the order of the file's own list; what is folded stands where the first of it stood. */
export function folded(view: ClientView, file: ClientFile): Told[] {
  const told: Told[] = [];
  for (const drift of file.drift.filter((one) => unmended(view, one))) {
    const entries = drift.fix?.kind === 'protect' ? drift.fix.entries : [];
    const alike = told.find((one) => entries.length > 0 && one.entries.length > 0 && one.serious === drift.serious);
    if (alike) {
      alike.drifts.push(drift);
      alike.entries.push(...entries);
    } else told.push({ serious: drift.serious, drifts: [drift], entries: [...entries] });
  }
  return told;
}
