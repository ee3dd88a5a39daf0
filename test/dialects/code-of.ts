import { GatewayError } from '../../src/errors.ts'

/** The code that a call fails with, and the field it blames. */
export const codeOf = (run: () => unknown): string => {
  try {
    run()
  } catch (thrown) {
    if (thrown instanceof GatewayError) return `${thrown.code} ${thrown.param ?? ''}`.trim()
    throw thrown
  }
  return 'nothing thrown'
}
