import { defineConfig } from 'vitest/config'

const report = process.env.TEST_REPORT

export default defineConfig({
  test: {
    environment: 'node',
    include: ['test/**/*.test.ts'],
    // Native add-ons and worker threads inside the tests: a process for each file keeps a crash to that file.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 30_000,
    teardownTimeout: 10_000,
    expect: { poll: { timeout: 10_000 } },
    reporters: ['default', './test/skips.ts', ...(report ? ['json'] : [])],
    ...(report ? { outputFile: { json: report } } : {}),
  },
})
