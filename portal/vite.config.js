import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The service writes the page itself: it reads the names of the files from the manifest. */
export default defineConfig({
  root: import.meta.dirname,
  // Addresses from the file that names them: the service may stand below any path.
  base: './',
  plugins: [react()],
  publicDir: false,
  // From its sources: they need no compiler to be built first.
  resolve: { alias: { '@doorstep/sdk': join(import.meta.dirname, '..', 'sdk', 'src', 'index.ts') } },
  build: {
    target: 'es2022',
    assetsDir: '.',
    // A picture within a style sheet or a script is neither cached nor allowed by the policy.
    assetsInlineLimit: 0,
    manifest: 'manifest.json',
    reportCompressedSize: false,
    rolldownOptions: {
      input: 'src/main.tsx',
      output: {
        codeSplitting: {
          groups: [
            // What every page needs: as one file it is smaller than as thirty.
            { name: 'first', tags: ['$initial'] },
          ],
        },
      },
    },
  },
});
