// What needs a person, folded: many things in the files of one client are one line, since one look there sees them all.
import type { Need } from './backend';
import { knownClients } from './clients/known';

export interface NeedLine {
  words: string;
  serious: boolean;
  /** The first is what its button mends. */
  needs: [Need, ...Need[]];
}

/** Needs about entries of a client's file begin with the client's name. Serious: they had the gate; else they are new. */
const clientOf = (need: Need): string | null =>
  need.fix?.kind === 'openClients'
    ? (knownClients.find(({ name }) => need.words.startsWith(`${name}: `))?.name ?? null)
    : null;

export function needLines(needs: readonly Need[]): NeedLine[] {
  const lines: (NeedLine & { client: string | null })[] = [];
  for (const need of needs) {
    const client = clientOf(need);
    const line = lines.find((one) => client !== null && one.client === client && one.serious === need.serious);
    if (line) line.needs.push(need);
    else lines.push({ client, words: need.words, serious: need.serious, needs: [need] });
  }
  return lines.map(({ client, words, serious, needs: all }) => ({
    words:
      all.length === 1
        ? words
        : `${client}: ${all.length} servers ${serious ? 'have lost their gate' : 'are new and not protected'}`,
    serious,
    needs: all,
  }));
}
