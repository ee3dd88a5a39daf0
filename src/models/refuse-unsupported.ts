import { GatewayError } from '../errors.ts'
import type { ChatRequest } from '../wire/chat.ts'
import type { Model } from './model.ts'

/**
 * Refuses what the model is known not to take, before anything is held: a provider might drop it in silence. What
 * nobody knows is passed on. Raises `unsupported_parameter` with the place in `param`.
 */
export const refuseUnsupported = (chat: ChatRequest, model: Model): void => {
  if (model.supportsTools === false && chat.tools?.length)
    throw unsupported('tools', `${model.id} can't call tools.`)
  if (model.inputModalities?.includes('image') !== false) return
  for (const [message, { content }] of chat.messages.entries()) {
    if (!Array.isArray(content)) continue
    const part = content.findIndex(({ type }) => type === 'image_url')
    if (part >= 0)
      throw unsupported(`messages[${message}].content[${part}]`, `${model.id} takes no images.`)
  }
}

const unsupported = (param: string, message: string): GatewayError =>
  new GatewayError('unsupported_parameter', `${message} GET /models tells what a model takes.`, {
    param,
  })
