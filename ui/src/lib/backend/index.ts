// Picks the host: the real gate inside the app's window, the in-memory one in a plain browser (development and tests).
import type { Backend } from './backend';

export * from './backend';

export async function pickBackend(): Promise<Backend> {
  if ('__TAURI_INTERNALS__' in window) return (await import('./tauri')).tauriBackend();
  return (await import('./fake')).fakeBackend();
}
