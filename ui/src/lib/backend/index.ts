export * from './backend';
export { tauriBackend } from './tauri';
