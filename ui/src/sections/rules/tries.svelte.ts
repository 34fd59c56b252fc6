// What was typed into *Try a call*, kept beside each sheet while other tabs are looked at.
import type { Sheet } from './sheet.svelte';

class Attempt {
  tool = $state('');
  client: string | null = $state(null);
  args = $state('{}');

  constructor(tool: string) {
    this.tool = tool;
  }
}

const kept = new WeakMap<Sheet, Attempt>();

export function tries(sheet: Sheet, tool: string): Attempt {
  const found = kept.get(sheet) ?? new Attempt(tool);
  kept.set(sheet, found);
  return found;
}
