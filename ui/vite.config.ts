import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

// The same policy as in src-tauri/tauri.conf.json (less its own transport), so that what breaks it breaks in the browser tests too.
const csp =
  "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export default defineConfig(({ mode }) => ({
  plugins: [svelte()],
  // Relative addresses work from any origin that the window uses.
  base: './',
  build: { target: 'es2022', modulePreload: { polyfill: false }, assetsInlineLimit: 0, chunkSizeWarningLimit: 700 },
  // docs/words.md is read by a test.
  server: { port: 5178, strictPort: true, fs: { allow: ['..'] } },
  preview: { port: 5179, strictPort: true, headers: { 'Content-Security-Policy': csp } },
  // Without this, component tests would load Svelte's server side.
  resolve: mode === 'test' ? { conditions: ['browser'] } : {},
  test: { environment: 'jsdom', include: ['src/**/*.test.ts'], setupFiles: ['src/test-setup.ts'] },
}));
