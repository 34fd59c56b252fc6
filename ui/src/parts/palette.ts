// What the palette finds: everything as one list of lines, and how well a line fits what was typed. Pure.

export interface Line {
  /** Stable, for keys and tests. */
  id: string;
  group: 'Go to' | 'Do' | 'Server' | 'Tool' | 'Filter' | 'Act';
  words: string;
  hint: string;
  /** Found by these too. */
  also?: string;
  run: () => void;
}

const order: readonly Line['group'][] = ['Go to', 'Do', 'Server', 'Filter', 'Act', 'Tool'];

/** What can be done to a tool by typing it. */
export const verbs = ['Block', 'Cap', 'Hide', 'Allow'] as const;
export type Verb = (typeof verbs)[number];

/** The verbs that something typed may begin: "blo", "block send", "send cap". Only then there are lines for them: there are
 *  as many tools as servers like. */
export function verbsIn(typed: string): Verb[] {
  const words = typed
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word.length > 1);
  return verbs.filter((verb) => words.some((word) => verb.toLowerCase().startsWith(word)));
}

/**
 * How well it fits; null if it does not. Every word has to be there, in any order: at the start of the line is best, then
 * at the start of a word, then anywhere, then as letters in order.
 */
export function fit(line: Pick<Line, 'words' | 'also'>, typed: string): number | null {
  const text = `${line.words} ${line.also ?? ''}`.toLowerCase();
  let score = 0;
  for (const word of typed.toLowerCase().split(/\s+/).filter(Boolean)) {
    const at = text.indexOf(word);
    if (at === 0) score += 8;
    else if (at > 0 && /[\s_\-/.]/.test(text[at - 1] ?? '')) score += 5;
    else if (at > 0) score += 3;
    else if (word.length > 1 && inOrder(text, word)) score += 1;
    else return null;
  }
  return score;
}

/** Is a word of it only there as letters in order? */
function loosely(line: Pick<Line, 'words' | 'also'>, typed: string): boolean {
  const text = `${line.words} ${line.also ?? ''}`.toLowerCase();
  return typed
    .toLowerCase()
    .split(/\s+/)
    .some((word) => !text.includes(word));
}

function inOrder(text: string, letters: string): boolean {
  let from = 0;
  for (const letter of letters) {
    const at = text.indexOf(letter, from);
    if (at < 0) return false;
    from = at + 1;
  }
  return true;
}

/** The best first; of equals, in the order of groups and then as they came. */
export function found(lines: readonly Line[], typed: string, most = 40): Line[] {
  const nothing = typed.trim() === '';
  const fitting = lines
    .map((line, at) => ({ line, at, score: fit(line, typed) }))
    .filter(
      (one): one is typeof one & { score: number } => one.score !== null && !(nothing && one.line.group === 'Tool'),
    );
  // Letters in order are the last resort: beside a real find they are noise.
  const real = fitting.some((one) => !loosely(one.line, typed));
  return fitting
    .filter((one) => nothing || !real || !loosely(one.line, typed))
    .sort((a, b) => b.score - a.score || order.indexOf(a.line.group) - order.indexOf(b.line.group) || a.at - b.at)
    .slice(0, most)
    .map((one) => one.line);
}
