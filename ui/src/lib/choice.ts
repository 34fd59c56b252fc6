// One line of a list to choose from.
export interface Choice {
  value: string;
  words: string;
  /** Small words at the right: why, or what it is. */
  hint?: string;
}
