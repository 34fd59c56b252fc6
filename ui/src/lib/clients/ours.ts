// What was protected from the checklist, so that its one Undo still knows after the window was closed.
import type { EntryKey } from '../backend';
import { keyText } from './entries';

const storage = 'callgate.protected';
const keep = 200;

const isKey = (value: unknown): value is EntryKey => {
  if (typeof value !== 'object' || value === null) return false;
  const { client, path, project, name } = value as Record<string, unknown>;
  const text = (one: unknown) => typeof one === 'string';
  return text(client) && text(path) && text(name) && (project === null || text(project));
};

export function readOurs(): EntryKey[] {
  try {
    const read: unknown = JSON.parse(localStorage.getItem(storage) ?? '[]');
    return Array.isArray(read) ? read.filter(isKey) : [];
  } catch {
    return [];
  }
}

export function writeOurs(keys: readonly EntryKey[]): EntryKey[] {
  const all = [...new Map(keys.map((key) => [keyText(key), key])).values()].slice(-keep);
  try {
    localStorage.setItem(storage, JSON.stringify(all));
  } catch {
    // Then it counts for this session.
  }
  return all;
}
