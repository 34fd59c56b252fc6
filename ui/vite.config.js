import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';
import { World } from './bridge/world.mjs';

/** Development: the page on the real desk, in a world of its own. `CALLGATE_WORLD` says what it is like. */
const developed = () => ({
  name: 'world',
  apply: 'serve',
  transformIndexHtml: () => [
    { tag: 'script', attrs: { type: 'module', src: '/bridge/host.js' }, injectTo: 'head-prepend' },
  ],
  async configureServer(server) {
    const like = JSON.parse(process.env.CALLGATE_WORLD ?? '{}');
    const world = await World.make({ rate: 1, clients: true, recording: 'claude-ai', ...like });
    server.httpServer?.once('close', () => void world.stop());
    server.middlewares.use((request, response, next) => {
      if (request.method !== 'POST') return next();
      void world.forward(request, response);
    });
  },
});

export default defineConfig(({ mode }) => ({
  plugins: [svelte(), ...(mode === 'test' ? [] : [developed()])],
  // Relative addresses work from any origin that the window uses.
  base: './',
  build: { target: 'es2022', modulePreload: { polyfill: false }, assetsInlineLimit: 0, chunkSizeWarningLimit: 700 },
  // docs/words.md is read by a test.
  server: { host: '127.0.0.1', port: 5178, strictPort: true, fs: { allow: ['..'] } },
  // Without this, component tests would load Svelte's server side.
  resolve: mode === 'test' ? { conditions: ['browser'] } : {},
  test: { environment: 'jsdom', include: ['src/**/*.test.ts'], setupFiles: ['src/test-setup.ts'] },
}));
