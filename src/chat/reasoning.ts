/** Takes reasoning out of a message or delta that its client asked to see without (`reasoning.exclude`); it is paid. */
export const hideReasoning = (said: {
  reasoning?: unknown
  reasoning_content?: unknown
  reasoning_details?: unknown
}): void => {
  delete said.reasoning
  delete said.reasoning_content
  delete said.reasoning_details
}
