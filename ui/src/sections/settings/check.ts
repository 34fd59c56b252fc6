// What a person may type into the settings. The file's own checks are the backend's; these say it at the field.

export interface Bounds {
  least: number;
  most: number;
}

export const days: Bounds = { least: 1, most: 3650 };
export const megabytes: Bounds = { least: 10, most: 1_000_000 };

/** The number, or what is wrong with the text. */
export function whole(text: string, { least, most }: Bounds): { value: number } | { problem: string } {
  const bare = text.trim().replace(/[\s,_']/g, '');
  const value = Number(bare);
  if (!/^\d+$/.test(bare) || value < least || value > most)
    return { problem: `A whole number from ${least.toLocaleString('en')} to ${most.toLocaleString('en')}.` };
  return { value };
}

/** Names of arguments, one a line or with commas; each once, compared as the masking does: without regard to case. */
export function maskNames(text: string): { names: string[] } | { problem: string } {
  const names: string[] = [];
  for (const name of text.split(/[\n,]/).map((one) => one.trim())) {
    if (name === '' || names.some((known) => known.toLowerCase() === name.toLowerCase())) continue;
    if (name.length > 100) return { problem: `A name of more than 100 characters: ${name.slice(0, 20)}…` };
    if (/[\p{Cc}\p{Cf}]/u.test(name)) return { problem: 'A name with invisible characters in it.' };
    names.push(name);
  }
  return names.length > 200 ? { problem: 'More than 200 names.' } : { names };
}

/** The word that has to be typed before the history is deleted. */
export const deleteWord = 'delete';

/** How full the ceiling is, from 0 to 1. */
export function fullness(usedBytes: number, ceilingMegabytes: number): number {
  if (ceilingMegabytes <= 0) return 1;
  return Math.min(1, Math.max(0, usedBytes / (ceilingMegabytes * 1024 * 1024)));
}
